/** What was seen, from all test files of a run, for the table that people read. */
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';

export const reachStates = ['starts', 'busy', 'at the end of a turn', 'idle'] as const;

export interface ReachRow {
  /** As `agent-bus connect` calls it. */
  product: string;
  state: (typeof reachStates)[number];
  /** By what it heard; `none` where it did not, and the proof says what happened instead. */
  route: string;
  /** From the call of `send` to the model's request with the text in it, where that says anything. */
  latencyMs?: number;
  /** What was looked at. */
  proof: string;
  /** The hub was killed and started again in between. */
  crashed?: boolean;
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

const folder = join(import.meta.dirname, '..', '..', '..', '.cache', 'agents');
/** Test files run in processes of their own: each adds its lines. */
const rowsFile = join(folder, 'rows.jsonl');
const conversationFile = join(folder, 'conversation.jsonl');

export function recordReach(row: ReachRow): void {
  add(rowsFile, row);
}

export function recordConversation(row: ConversationRow): void {
  add(conversationFile, row);
}

export function forgetRows(): void {
  for (const file of [rowsFile, conversationFile]) fs.rmSync(file, { force: true });
}

export function readRows(): ReachRow[] {
  return lines<ReachRow>(rowsFile);
}

export function readConversation(): ConversationRow[] {
  return lines<ConversationRow>(conversationFile);
}

function add(file: string, row: object): void {
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.appendFileSync(file, `${JSON.stringify(row)}\n`);
}

function lines<Row>(file: string): Row[] {
  if (!fs.existsSync(file)) return [];
  const all = fs.readFileSync(file, 'utf8').split('\n');
  return all.filter((line) => line !== '').map((line) => JSON.parse(line) as Row);
}
