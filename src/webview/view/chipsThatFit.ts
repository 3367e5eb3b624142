const sides = 36;
const letter = 7;
const gap = 4;
const moreWidth = 48;

/** How many chips with these names fit into so many rows, with room for one that says how many more there are. */
export function chipsThatFit(names: readonly string[], width: number, rows: number): number {
  const widths = names.map((name) => Math.min(width, sides + letter * name.length));
  const fits = (count: number, room: number): boolean => {
    let row = 1;
    let used = 0;
    for (const chip of [...widths.slice(0, count), ...(room > 0 ? [room] : [])]) {
      if (used > 0 && used + gap + chip > width) {
        row++;
        used = 0;
      }
      used += (used > 0 ? gap : 0) + chip;
    }
    return row <= rows;
  };
  if (fits(names.length, 0)) return names.length;
  let count = names.length - 1;
  while (count > 1 && !fits(count, moreWidth)) count--;
  return count;
}
