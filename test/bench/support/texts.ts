/** Messages as agents write them: about 200 characters, mostly common words, now and then a rare one. */
const stems =
  'the build test branch file error change review merge server client release deploy database index query token session ' +
  'message agent inbox answer request status please done failed passed waiting running started stopped found missing fixed ' +
  'broken slow fast large small new old next last first after before because should would could need want look check read ' +
  'write open close move copy rename delete update create add remove list count sort filter page line function class module ' +
  'import export type value string number object array promise error handler socket port host path folder config option flag ' +
  'limit time date hour minute second day week version commit push pull diff patch log trace debug warn info note docs readme ' +
  'example sample draft plan task issue ticket bug feature idea question reply thread channel group member owner person user ' +
  'name label title text body header footer field row column table schema migration backup restore cache memory disk network';

export const words: readonly string[] = [...new Set(stems.split(' '))];
export const rareWords = 20_000;
export const rareWord = (n: number): string => `qx${n.toString(36)}`;

/** The same numbers in every run. */
export function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function makeText(random: () => number): string {
  let text = rareWord(Math.floor(random() * rareWords));
  // The square makes the words at the front of the list the common ones.
  while (text.length < 194) text += ` ${words[Math.floor(random() ** 2 * words.length)]}`;
  return text;
}

const random = dice(7);
const texts = Array.from({ length: 512 }, () => makeText(random));
let turn = 0;

export function nextText(): string {
  return texts[turn++ & 511] as string;
}
