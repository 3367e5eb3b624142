/** Messages as agents write them: a sentence or two, now and then a list or some code. Each has its number in it. */
const sentences = [
  'The build of the branch is green again after the last change to the session store.',
  'Can you look at the failing test in the checkout module before you merge?',
  'I moved the handler into its own file and renamed the option, nothing else changed.',
  'GET /orders returns whole cents now; the page has to divide by a hundred.',
  'Found the reason: the index was missing, so every query read the whole table.',
  'Please wait with the release until the migration has run on the second database.',
  'Done. The patch is small, the tests pass, and the docs say how to use it.',
  'The cache keeps a token for an hour longer than it is valid; that explains the errors.',
];
const code = '```ts\nexport function total(order: Order): number {\n  return order.total_cents / 100;\n}\n```';
const list = '- rename the column\n- backfill old rows\n- drop the **old** index';

export function seedText(random: () => number, n: number): string {
  const sentence = (): string => sentences[Math.floor(random() * sentences.length)] ?? '';
  const fate = random();
  const rest = fate < 0.12 ? `\n\n${code}` : fate < 0.2 ? `\n\n${list}` : fate < 0.5 ? ` ${sentence()}` : '';
  return `${sentence()} (note ${n})${rest}`;
}
