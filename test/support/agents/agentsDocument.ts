/** docs/agents.md: what the real products did in a run of `npm run test:agents`, for people to read. */
import { reachStates, type ConversationRow, type ReachRow } from './reachTable.ts';

export const productTitles: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  copilot: 'Copilot CLI',
  vscode: 'Copilot in VS Code',
  cursor: 'Cursor',
};

const notRun = 'not run: it needs a screen and an account. Its files are tested against its documented format';

export interface AgentsRun {
  rows: readonly ReachRow[];
  conversation: readonly ConversationRow[];
  /** Product → version, of those that ran. */
  versions: Readonly<Record<string, string>>;
  /** A date, as 2026-01-31. */
  date: string;
}

export function agentsDocument({ rows, conversation, versions, date }: AgentsRun): string {
  const run = Object.entries(versions).map(([name, version]) => `${productTitles[name] ?? name} ${version}`);
  return [
    '# What each agent was seen to hear, and how',
    '',
    'Written by `npm run test:agents -- --write`, from what the real products did in that run. Every one of them ran offline in a',
    'throw-away home folder, connected by `agent-bus connect`; only the language model behind it was scripted. Latency is from',
    'the call of `send` to the model’s request that has the text in it, on a small shared machine: the middle of several.',
    '',
    `${date}: ${run.join(', ')}.`,
    '',
    '| product | when | by | latency | what was looked at |',
    '|---|---|---|---|---|',
    ...tableLines(rows),
    '',
    '## What does not work',
    '',
    ...failures(rows),
    '',
    '## One conversation over four products',
    '',
    'All four were idle. The person wrote to Claude Code, and allowed two workspaces to wake another; the rest went over the bus.',
    '',
    '| from | to | text | woken by | receipt |',
    '|---|---|---|---|---|',
    ...conversation.map(({ from, to, text, route, steps }) => line(from, to, text, route, steps.join(', '))),
    '',
  ].join('\n');
}

function tableLines(rows: readonly ReachRow[]): string[] {
  return Object.keys(productTitles).flatMap((product) =>
    reachStates.flatMap((state) => {
      const own = rows.filter((row) => row.product === product && row.state === state);
      const seen = [...Map.groupBy(own, ({ route }) => route).values()];
      if (seen.length > 0) return seen.map((same) => rowLine(same));
      const nothing = product === 'cursor' ? notRun : 'not looked at';
      return state === 'starts' && product !== 'cursor' ? [] : [line(titleOf(product), state, '–', '–', nothing)];
    }),
  );
}

function rowLine(same: readonly ReachRow[]): string {
  const [{ product, state, route, proof } = same[0] as ReachRow] = same;
  const times = same.flatMap(({ latencyMs, crashed }) => (crashed ? [] : (latencyMs ?? []))).sort((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  const latency = middle === undefined ? '–' : `${(middle / 1000).toFixed(2)} s`;
  const crash = same.some(({ crashed }) => crashed) ? '; also with the hub killed in between' : '';
  const by = route === 'none' ? '**nothing**' : route;
  return line(titleOf(product), state, by, latency, proof + crash);
}

/** What was tried and seen to fail, and what could not be tried. */
function failures(rows: readonly ReachRow[]): string[] {
  const tried = rows.filter(({ route }) => route === 'none');
  const lines = tried.map(({ product, state, proof }) => `- ${titleOf(product)}, ${state}: ${proof}.`);
  return [...new Set(lines), `- Cursor: ${notRun}.`];
}

function titleOf(product: string): string {
  return productTitles[product] ?? product;
}

function line(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}
