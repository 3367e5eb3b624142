import { writeFileSync } from 'node:fs';
import type { Measured } from './statistics.ts';
import { spread } from './statistics.ts';

export interface Row {
  name: string;
  p50: number | null;
  p95: number | null;
  ops: number | null;
  /** Half the range of the rounds, as a share of the figure that the ratio is made of. */
  spread: number | null;
  ratio: number | null;
  against: string;
  bar?: string;
  /** Undefined where there is no bar, or nothing to hold it against. */
  met?: boolean;
  note?: string;
}

type Judged = Partial<Pick<Row, 'ratio' | 'against' | 'bar' | 'met' | 'note'>>;

export function latencyRow(name: string, measured: Measured, judged: Judged = {}): Row {
  return { ...figures(name, measured), spread: spread(measured.p50s), ...judged };
}

export function throughputRow(name: string, measured: Measured, judged: Judged = {}): Row {
  return { ...figures(name, measured), spread: spread(measured.rates), ...judged };
}

function figures(name: string, { p50, p95, rate }: Measured): Row {
  return { name, p50, p95, ops: rate, spread: null, ratio: null, against: '' };
}

export function printTable(rows: readonly Row[]): void {
  const head = ['scenario', 'p50 ms', 'p95 ms', 'ops/s', 'spread', 'ratio', 'against', 'bar', ''];
  const lines = rows.map((row) => [
    row.name,
    number(row.p50, 3),
    number(row.p95, 3),
    row.ops === null ? '' : Math.round(row.ops).toLocaleString('en'),
    row.spread === null ? '' : `±${Math.round(row.spread * 100)} %`,
    number(row.ratio, 2),
    row.against,
    row.bar ?? '',
    row.bar === undefined ? '' : row.met === undefined ? 'not judged' : row.met ? 'met' : 'NOT met',
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map((line) => line[i]?.length ?? 0)));
  const isNumber = (column: number): boolean => column >= 1 && column <= 5;
  for (const line of [head, widths.map((width) => '-'.repeat(width)), ...lines]) {
    const cells = line.map((cell, i) => (isNumber(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)));
    console.log(cells.join('  ').trimEnd());
  }
  for (const row of rows) if (row.note !== undefined) console.log(`\n${row.name}: ${row.note}`);
}

export function printVerdict(rows: readonly Row[]): void {
  const judged = rows.filter((row) => row.met !== undefined);
  const missed = judged.filter((row) => !row.met).map((row) => row.name);
  const open = rows.filter((row) => row.bar !== undefined && row.met === undefined).map((row) => row.name);
  console.log(`\n${judged.length - missed.length} of ${judged.length} bars met.`);
  if (missed.length > 0) console.log(`NOT met: ${missed.join(', ')}.`);
  if (open.length > 0) console.log(`Not judged: ${open.join(', ')}.`);
}

export function writeJson(path: string, rows: readonly Row[]): void {
  const list = rows.map(({ name, p50, p95, ops, spread, ratio, against, bar, met, note }) => ({
    name,
    p50_ms: rounded(p50),
    p95_ms: rounded(p95),
    ops: rounded(ops),
    ratio: rounded(ratio),
    against: against || null,
    spread: rounded(spread),
    bar,
    met,
    note,
  }));
  writeFileSync(path, `${JSON.stringify(list, null, 2)}\n`);
}

const number = (value: number | null, digits: number): string => (value === null ? '' : value.toFixed(digits));
const rounded = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(6)));
