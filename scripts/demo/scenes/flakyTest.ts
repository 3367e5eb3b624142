import type { Stage } from '../stage.ts';

export async function flakyTest(stage: Stage): Promise<void> {
  const { claude, codex } = stage.actors;
  const question = await codex.ask(
    claude.name,
    '`orders come in pages` failed in 3 of 20 runs, only in CI. Did you touch the order of the rows?\n\n' +
      '```\nnot ok 1 - orders come in pages\n  expected: 2\n  actual:   1\n```',
  );
  await stage.beat(3);
  await claude.read();
  await claude.become('working');
  await stage.beat(7);
  await claude.answer(
    question,
    'Yes: the new query had no `ORDER BY`, so a page could begin anywhere.\n\n' +
      '```diff\n- SELECT * FROM orders LIMIT ?\n+ SELECT * FROM orders ORDER BY placed_at, id LIMIT ?\n```\n\n' +
      'Pushed. **40 runs, 40 green** here.',
  );
  await codex.read();
  await stage.beat(3);
  await claude.become('idle');
}
