/** `agent-bus wait` for a session of a product: it ends, or says so, when the hub wants the session to be woken. */
import { createInterface } from 'node:readline';
import { productNamed, productOfAgent } from '../connect/products/table.ts';
import { BackgroundShellRoute } from '../connect/routes/backgroundShellRoute.ts';
import { ClaudeRewakeRoute, rewakeExit } from '../connect/routes/claudeRewakeRoute.ts';
import { CopilotExtensionRoute } from '../connect/routes/copilotExtensionRoute.ts';
import type { WakeRoute } from '../connect/routes/route.ts';
import { limits } from '../core/limits.ts';
import type { BusHome } from '../hub/home.ts';
import { commandLine, quoted } from './commandLine.ts';
import { ExitCode } from './exitCode.ts';
import { readHook } from './hookEvent.ts';
import { readInput } from './hookPipes.ts';
import { print, printJson } from './print.ts';
import { isAlive, SoleWaiter } from './soleWaiter.ts';
import { usageError } from './usageError.ts';
import { Waiter } from './waiter.ts';

/** How often it looks whether its product is still there. */
const lookMs = 2_000;

/** As a hook of Claude Code in the background. It is silent unless it wakes, and whatever happens, it does not fail. */
export async function waitAsHook(name: string, home: BusHome): Promise<ExitCode> {
  const form = productNamed(name)?.hooks;
  const route = new ClaudeRewakeRoute(process.env, (text) => print(text, process.stderr));
  const input = await readInput();
  if (name !== 'claude' || !form || !(await route.detect())) return ExitCode.ok;
  const call = readHook(form, 'Stop', input);
  if (!call) return ExitCode.ok;
  const workspace = (form.folderVariable && process.env[form.folderVariable]) || call.folder || process.cwd();
  const session = { product: name, workspace, chat: call.params.chat };
  try {
    const outcome = await wait(home, session, route, { watched: [Number(process.env['CLAUDE_PID'])] });
    return outcome === 'woken' ? rewakeExit : ExitCode.ok;
  } catch {
    return ExitCode.ok;
  }
}

/** In the background, left there by the model; or for a program that talks to it by lines, until that hangs up. */
export async function waitForSession(
  { session: chat, product = '', lines }: { session: string; product?: string | undefined; lines: boolean },
  home: BusHome,
): Promise<ExitCode> {
  const known = productOfAgent(product) ?? productNamed(product);
  if (!known)
    throw usageError('--session needs --product, to know whose session it is.', 'Say --product gemini, for example.');
  if (chat === '' || chat.length > limits.chatIdLength) {
    throw usageError('That is no id of a session.', 'Give the id by which the product itself calls the session.');
  }
  const session = { product: known.agent, workspace: process.cwd(), chat };
  if (lines) {
    await wait(home, session, new CopilotExtensionRoute(new Lines().send), { stays: true, hangsUp: true });
    return ExitCode.ok;
  }
  const again = `${commandLine().shell} wait --session ${quoted(chat)} --product ${known.agent}`;
  const route = new BackgroundShellRoute(again, (text) => print(text));
  await wait(home, { ...session, says: 'line' as const }, route, {});
  return ExitCode.ok;
}

interface Life {
  stays?: boolean;
  /** Processes without which nobody is left to be woken, besides the one that has started this. */
  watched?: readonly number[];
  /** Whoever has started this holds its stdin open for as long as they live. */
  hangsUp?: boolean;
}

async function wait(
  home: BusHome,
  session: { product: string; workspace: string; chat: string; says?: 'line' },
  route: WakeRoute,
  { stays = false, watched = [], hangsUp = false }: Life,
): Promise<'woken' | 'left'> {
  const ending = new AbortController();
  const parent = process.ppid;
  const sole = new SoleWaiter(home, [route.name, session.chat]);
  sole.claim();
  const look = (): void => {
    const isOrphan = process.ppid !== parent || [parent, ...watched].some((pid) => pid > 1 && !isAlive(pid));
    if (isOrphan || sole.isReplaced()) ending.abort();
  };
  const timer = setInterval(look, lookMs);
  if (hangsUp) process.stdin.once('end', () => ending.abort()).once('close', () => ending.abort());
  try {
    const carried = { ...session, route: route.name };
    return await new Waiter({ home, session: carried, route, stays, over: ending.signal }).run();
  } finally {
    clearInterval(timer);
    sole.release();
  }
}

/** One line of JSON each way: what to send, and whether it was sent. */
class Lines {
  private readonly waiting = new Map<number, (sent: boolean) => void>();
  private count = 0;

  constructor() {
    createInterface({ input: process.stdin }).on('line', (line) => this.hear(line));
  }

  readonly send = async (prompt: string): Promise<boolean> => {
    const id = ++this.count;
    const sent = new Promise<boolean>((resolve) => this.waiting.set(id, resolve));
    await printJson({ id, prompt });
    return sent;
  };

  private hear(line: string): void {
    try {
      const { id, sent } = JSON.parse(line) as { id?: number; sent?: boolean };
      this.waiting.get(id ?? 0)?.(sent === true);
      this.waiting.delete(id ?? 0);
    } catch {
      // Not for us.
    }
  }
}
