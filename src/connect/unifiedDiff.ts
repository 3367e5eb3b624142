/** Two texts as `diff -u` shows them. */

const context = 3;
/** Beyond that the middle of two texts is shown as replaced as a whole. */
const cellsAtMost = 4_000_000;

type Line = [sign: ' ' | '-' | '+', text: string];

export function unifiedDiff(path: string, before: string | undefined, after: string | undefined): string {
  const lines = compared(split(before), split(after));
  const from = before === undefined ? '/dev/null' : path;
  const to = after === undefined ? '/dev/null' : path;
  return [`--- ${from}`, `+++ ${to}`, ...hunks(lines)].join('\n');
}

/** A last line without an end is another line than one with it. */
function split(text: string | undefined): string[] {
  if (text === undefined || text === '') return [];
  const lines = text.replace(/^\uFEFF/, '').split(/(?<=\n)/);
  return lines.map((line) => (line.endsWith('\n') ? line.slice(0, -1).replace(/\r$/, '') : `${line}${unended}`));
}

const unended = '\n\\ No newline at end of file';

function compared(a: readonly string[], b: readonly string[]): Line[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const same = (line: string): Line => [' ', line];
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

/** The longest common subsequence, by the book. */
function middle(a: readonly string[], b: readonly string[]): Line[] {
  const removed = a.map((line): Line => ['-', line]);
  const added = b.map((line): Line => ['+', line]);
  if (a.length * b.length > cellsAtMost) return [...removed, ...added];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([' ', a[i++] ?? '']);
      j++;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) lines.push(['-', a[i++] ?? '']);
    else lines.push(['+', b[j++] ?? '']);
  }
  return lines;
}

function hunks(lines: readonly Line[]): string[] {
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - context), i + context + 1).some(([sign]) => sign !== ' '),
  );
  const result: string[] = [];
  let before = 1;
  let after = 1;
  for (let i = 0; i < lines.length;) {
    if (!near[i]) {
      before++;
      after++;
      i++;
      continue;
    }
    const end = near.indexOf(false, i);
    const hunk = lines.slice(i, end < 0 ? undefined : end);
    const removed = hunk.filter(([sign]) => sign !== '+').length;
    const added = hunk.filter(([sign]) => sign !== '-').length;
    result.push(`@@ -${range(before, removed)} +${range(after, added)} @@`, ...hunk.map(([sign, line]) => sign + line));
    before += removed;
    after += added;
    i += hunk.length;
  }
  return result;
}

function range(start: number, count: number): string {
  return count === 0 ? `${start - 1},0` : `${start},${count}`;
}
