import type { Stage } from '../stage.ts';

/** Another question to the person, unless one is still open. */
export async function roundingDecision(stage: Stage): Promise<void> {
  if (stage.isDecisionOpen) return;
  const { codex } = stage.actors;
  await codex.become('waiting');
  const question = await codex.ask(
    'person',
    'The export rounds a discount of 33 % on €0.99 to €0.66, the page to €0.67. Which one is right?',
    { options: ['€0.66, always down', '€0.67, to the nearest cent'] },
  );
  stage.aside(react(stage, question));
}

async function react(stage: Stage, question: string): Promise<void> {
  const { codex, web } = stage.actors;
  const decision = await stage.decision(question);
  await stage.beat(1.5);
  await codex.read();
  await codex.become('working');
  await codex.tell(
    web.name,
    decision === undefined
      ? 'Nobody decided about the rounding; I leave it as it is.'
      : `The person has decided about rounding: **${decision.split('\n', 1)[0]}**. I change the export, you the page?`,
  );
  await stage.beat(4);
  await web.read();
  await web.tell(codex.name, 'On it.');
  await codex.become('idle');
}
