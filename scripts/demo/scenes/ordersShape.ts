import type { Stage } from '../stage.ts';

/** The first of our stories: one window's agent asks the other's, and goes on with the answer. */
export async function ordersShape(stage: Stage): Promise<void> {
  const { api, web } = stage.actors;
  await web.become('waiting');
  const question = await web.ask(
    api.name,
    'What does `GET /orders` return? My page shows **NaN** for the total of every order.\n\n' +
      '```ts\n// src/fetchOrders.ts\nexport interface Order {\n  id: string;\n  total: number; // ← this one\n}\n```',
    { files: ['src/fetchOrders.ts'] },
  );
  await stage.beat(2);
  await api.read();
  await api.become('working');
  await stage.beat(5);
  await api.answer(
    question,
    'There is no `total`. Money is in whole cents, and the list is paged:\n\n' +
      '```json\n{\n  "orders": [\n    { "id": "o-1041", "state": "paid", "total_cents": 4990, "currency": "EUR" }\n  ],\n' +
      '  "next": "o-1043"\n}\n```\n\n`next` is `null` on the last page; until then give it back as `?cursor=`.',
  );
  await api.become('idle');
  await web.read();
  await web.become('working');
  await stage.beat(4);
  await web.tell(
    api.name,
    'Thanks, that was it. Fixed on my side:\n\n' +
      '```diff\n-      <td>${money(total, currency)}</td>\n+      <td>${money(total_cents / 100, currency)}</td>\n```',
  );
  await api.read();
  await web.become('idle');
}
