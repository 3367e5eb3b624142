/** What somebody who typed `wanted` may have meant, if anything is near. */
export function closest(wanted: string, known: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(wanted.length / 3));
  const near = known
    .map((word) => ({ word, distance: word.startsWith(wanted) && wanted.length > 1 ? 1 : distance(wanted, word) }))
    .filter((candidate) => candidate.distance <= most)
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.word;
}

/** Insertions, deletions, replacements, and neighbours swapped: the slips of fingers. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same, swapped));
    }
  }
  return at(a.length, b.length);
}
