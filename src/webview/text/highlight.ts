/** A snippet in pieces, those that match a word of the query marked. */
export interface Highlighted {
  text: string;
  hit: boolean;
}

export function highlight(snippet: string, query: string): Highlighted[] {
  const words = query.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  if (words.length === 0) return [{ text: snippet, hit: false }];
  const any = new RegExp(`(${words.map((word) => word.replace(/[^\p{L}\p{N}\p{M}_]/gu, '')).join('|')})`, 'giu');
  return snippet
    .split(any)
    .map((text, i) => ({ text, hit: i % 2 === 1 }))
    .filter(({ text }) => text !== '');
}
