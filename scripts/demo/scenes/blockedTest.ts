import type { Stage } from '../stage.ts';

/** A request that stays open: whoever was asked is busy and has not looked yet. */
export async function blockedTest(stage: Stage): Promise<void> {
  const { web, codex } = stage.actors;
  await codex.become('working');
  await web.ask(
    codex.name,
    'Can you run the checkout tests against my branch `fix/total-cents` when you are through? It is only the one commit.',
  );
}
