import type { MessageView } from '../../src/core/model.ts';
import type { Actor } from './actor.ts';
import type { Stage } from './stage.ts';

/** The person wrote to one of us. We are a script, and say so, but nobody likes to talk to a wall. */
export async function talkBack(stage: Stage, actor: Actor, message: MessageView): Promise<void> {
  await stage.beat(2);
  await actor.read();
  if (message.channel !== undefined || message.kind === 'reply') return;
  await actor.become('working');
  await stage.beat(4);
  await actor.answer(
    message.id,
    `Got it. I am one of the scripted agents of the demo, so that is all I can do with it: a real ${actor.part.product} ` +
      'would have read your message in its chat or at its next tool call, and answered you here.',
  );
  await actor.become('idle');
}
