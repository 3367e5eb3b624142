/** Codex in a terminal, connected to the bus, after its first turn: it waits for its person. */
import type { AgentRoom } from './agentRoom.ts';
import type { AgentTerminal } from './agentTerminal.ts';
import { codex } from './products/codex.ts';
import { reviewHooks } from './products/codexReview.ts';

export interface CodexOptions {
  /** In a process of its own, not in the server that Codex keeps for all sessions. */
  alone?: boolean;
  /** What the person says to the review of the hooks, if this session is asked: 2 trusts them, 3 goes on without. */
  review?: 2 | 3;
  /** It asks before it does something outside of its sandbox. */
  asks?: boolean;
  first?: string;
}

/** Whatever else it says, the model says this at the end of each turn. */
export const turnOver = 'That is all.';

export async function codexSession(room: AgentRoom, options: CodexOptions = {}): Promise<AgentTerminal> {
  const { program, args, env, cwd } = codex.interactive(room);
  const kept = options.asks ? args.filter((word) => !word.startsWith('--dangerously')) : args;
  const launch = { program, env, cwd, args: [...kept, ...(options.alone ? ['--no-daemon'] : [])] };
  const terminal = await room.terminal(launch);
  if (options.review) await reviewHooks(terminal, options.review);
  await terminal.shows('Ask Codex to do anything');
  const first = options.first ?? 'Wait for mail.';
  await terminal.submit(first, () => room.model.turns.some(({ text }) => text.includes(first)));
  await terminal.shows(turnOver);
  await terminal.idle();
  return terminal;
}

/** Connects Codex in a room of its own; no session runs yet. */
export async function connectCodex(room: AgentRoom): Promise<void> {
  codex.configure(room, {});
  await room.agentBusRun('connect', 'codex').done();
}
