import type { Stage } from '../stage.ts';

/** Three in one conversation. */
export async function pagingReview(stage: Stage): Promise<void> {
  const { api, web, codex } = stage.actors;
  const change = await api.tell(
    [web.name, codex.name],
    'I am about to page `GET /orders`: two orders a page, `next` as the cursor. Anything that breaks on your side?',
    { files: ['src/routes.ts', 'src/orders.ts'] },
  );
  await stage.beat(3);
  await web.read();
  await web.answer(change, 'The table loads everything at once. I need a loop, ten lines. Go ahead.');
  await stage.beat(3);
  await codex.read();
  await codex.answer(
    change,
    'Two tests expect all three orders:\n\n1. `checkout › shows the last order`\n2. `orders › exports a list`\n\n' +
      'I change them as soon as it is on `main`.',
  );
  await api.read();
  await web.read();
}
