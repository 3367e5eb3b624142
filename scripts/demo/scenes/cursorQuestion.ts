import type { Stage } from '../stage.ts';

const questions = [
  [
    'Is a cursor still good after an order was deleted?',
    'Yes, if the deleted one is not the cursor itself. Then the list begins anew; I would rather send a 410. Shall I?',
  ],
  [
    'How many orders can a page have at most? I would like 50.',
    'Two, for now: it is a constant in `listOrders`.\n\n```ts\nexport function listOrders(cursor: string | null, limit = 2)\n```\n\n' +
      'I can read `?limit=` with 100 at most. Ten minutes.',
  ],
  [
    'May I cache `GET /orders/:id` in the browser?',
    'A shipped order never changes, an open one does:\n\n```http\nCache-Control: no-cache\nETag: "o-1042-7"\n```\n\nUse the ETag.',
  ],
] as const;

export async function cursorQuestion(stage: Stage): Promise<void> {
  const { api, web } = stage.actors;
  const [question, answer] = questions[stage.turn('cursorQuestion') % questions.length] ?? questions[0];
  await web.become('waiting');
  const asked = await web.ask(api.name, question);
  await stage.beat(2);
  await api.read();
  await api.become('working');
  await stage.beat(6);
  await api.answer(asked, answer);
  await api.become('idle');
  await stage.beat(1);
  await web.read();
  await web.become('idle');
}
