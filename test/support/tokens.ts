/**
 * How many tokens a text of ours is at most. Tokenizers get 3.4 to 4 characters of them into one (o200k, cl100k), marks and
 * ids included; fewer are taken here, so that it holds for those that can't be had.
 */
export function tokensAtMost(text: string): number {
  return Math.ceil(text.length / 3.2);
}
