/** Chance that can be repeated: numbers from 0 to 1 that follow from the seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** AGENT_BUS_SEED repeats a run as far as timing allows; the seed in use is printed. */
export function testSeed(): number {
  const given = process.env['AGENT_BUS_SEED'];
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
  console.log(`seed ${seed} (repeat with AGENT_BUS_SEED=${seed})`);
  return seed;
}
