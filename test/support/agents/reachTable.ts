/** What was seen to work, from all test files of a run, as the table that people read. */
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';

export interface ReachRow {
  product: string;
  state: 'starts' | 'is asked' | 'busy' | 'at the end of a turn' | 'idle';
  route: string;
  /** From the call of `send` to the model's request with the text in it, where that says anything. */
  latencyMs?: number;
  /** What was looked at. */
  proof: string;
}

const root = join(import.meta.dirname, '..', '..', '..');
/** Test files run in processes of their own: each adds its lines. */
export const rowsFile = join(root, '.cache', 'agents', 'rows.jsonl');

export function recordReach(row: ReachRow): void {
  fs.mkdirSync(dirname(rowsFile), { recursive: true });
  fs.appendFileSync(rowsFile, `${JSON.stringify(row)}\n`);
}

/** One message of the conversation over several products. */
export interface ConversationRow {
  from: string;
  to: string;
  text: string;
  /** How the reader could be woken before it began. */
  route: string;
  /** Its receipt. */
  steps: string[];
}

const conversationFile = join(root, '.cache', 'agents', 'conversation.jsonl');

export function recordConversation(row: ConversationRow): void {
  fs.mkdirSync(dirname(conversationFile), { recursive: true });
  fs.appendFileSync(conversationFile, `${JSON.stringify(row)}\n`);
}

export function readConversation(): ConversationRow[] {
  return lines<ConversationRow>(conversationFile);
}

export function forgetRows(): void {
  for (const file of [rowsFile, conversationFile]) fs.rmSync(file, { force: true });
}

export function readRows(): ReachRow[] {
  return lines<ReachRow>(rowsFile);
}

function lines<Row>(file: string): Row[] {
  if (!fs.existsSync(file)) return [];
  const all = fs.readFileSync(file, 'utf8').split('\n');
  return all.filter((line) => line !== '').map((line) => JSON.parse(line) as Row);
}

const order: readonly ReachRow['state'][] = ['starts', 'is asked', 'busy', 'at the end of a turn', 'idle'];

/** One line per product, state and route; of several latencies the middle one. */
export function reachTable(rows: readonly ReachRow[]): string {
  const groups = Map.groupBy(rows, ({ product, state, route }) => `${product}\t${order.indexOf(state)}\t${route}`);
  const table = [...groups.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, same]) => same[0] && lineOf(same[0], same));
  return ['| product | when | route | latency | proof |', '|---|---|---|---|---|', ...table, ''].join('\n');
}

function lineOf({ product, state, route, proof }: ReachRow, same: readonly ReachRow[]): string {
  const times = same.flatMap(({ latencyMs }) => latencyMs ?? []).sort((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  const latency = middle === undefined ? '–' : `${(middle / 1000).toFixed(2)} s`;
  return `| ${[product, state, route, latency, proof].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
