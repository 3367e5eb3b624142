import type { Stage } from '../stage.ts';

/** A terminal is closed and opened again: the agent has its name and finds what was sent to it meanwhile. */
export async function newTerminal(stage: Stage): Promise<void> {
  const { codex, web } = stage.actors;
  codex.leave();
  await stage.beat(4);
  await web.tell(codex.name, 'When you are back: `fix/total-cents` is merged, you can drop the two skipped tests.');
  await stage.beat(6);
  await codex.enter();
  await codex.become('working');
  await codex.read();
  await stage.beat(4);
  await codex.tell(web.name, 'Back. Both tests run again, and they pass.');
  await web.read();
  await codex.become('idle');
}
