/**
 * Starts a server as its product would, from the very line in the product's file and with as little of an environment,
 * and asks it for its tools: clients say nothing when a server fails, they just don't have the tools.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { BusError } from '../core/errors.ts';
import type { ServerEntry } from './files/serverIn.ts';

export interface Proof {
  /** The agent's name on the bus. */
  agent: string;
  tools: string[];
}

export interface ProofOptions {
  /** What the product calls itself as a client. */
  client: string;
  folder: string;
  env: Readonly<Record<string, string | undefined>>;
  timeoutMs?: number;
}

/** What a program needs on Windows to start at all. */
const bareVariables =
  process.platform === 'win32'
    ? ['PATH', 'Path', 'SystemRoot', 'ComSpec', 'PATHEXT', 'TEMP', 'USERPROFILE', 'LOCALAPPDATA', 'APPDATA']
    : ['HOME', 'PATH', 'TERM'];

const errorsKept = 2_000;

export async function proveServer(entry: ServerEntry, options: ProofOptions): Promise<Proof> {
  const { client, folder, timeoutMs = 30_000 } = options;
  const bare = Object.fromEntries(
    bareVariables.flatMap((name) => (options.env[name] ? [[name, options.env[name]]] : [])),
  );
  const args = entry.args.map((arg) => arg.replaceAll('${workspaceFolder}', folder));
  const child = spawn(entry.command, args, { cwd: folder, env: { ...bare, ...entry.env }, stdio: 'pipe' });
  const talk = new Talk(child);
  const timer = setTimeout(() => talk.fail(`it has not answered within ${timeoutMs / 1000} seconds`), timeoutMs);
  try {
    const clientInfo = { name: client, version: '0' };
    await talk.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    talk.tell('notifications/initialized');
    const { tools = [] } = (await talk.ask('tools/list', {})) as { tools?: { name: string }[] };
    const answer = (await talk.ask('tools/call', { name: 'agents', arguments: {} })) as ToolAnswer;
    const agent = answer.structuredContent?.you?.name;
    if (answer.isError || agent === undefined) throw failure(answer.content?.[0]?.text ?? 'it did not say who it is');
    return { agent, tools: tools.map(({ name }) => name) };
  } finally {
    clearTimeout(timer);
    child.stdin.end();
    child.kill();
  }
}

interface ToolAnswer {
  isError?: boolean;
  content?: { text?: string }[];
  structuredContent?: { you?: { name?: string } };
}

/** JSON-RPC by lines, as MCP has it on stdin and stdout. */
class Talk {
  private readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  private readonly waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  private failed: Error | undefined;
  private errors = '';
  private count = 0;

  constructor(child: ChildProcessByStdio<Writable, Readable, Readable>) {
    this.child = child;
    child.on('error', (error) => this.fail(error.message));
    child.on('close', (code) => this.fail(`it ended with ${code ?? 'a signal'}`));
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (chunk: Buffer) => (this.errors = (this.errors + chunk.toString()).slice(-errorsKept)));
    createInterface({ input: child.stdout }).on('line', (line) => this.hear(line));
  }

  ask(method: string, params: object): Promise<unknown> {
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      if (this.failed) return reject(this.failed);
      this.waiting.set(id, { resolve, reject });
      this.write({ id, method, params });
    });
  }

  tell(method: string): void {
    this.write({ method });
  }

  fail(why: string): void {
    const said = this.errors.trim();
    this.failed ??= failure(said === '' ? why : `${why}: ${said}`);
    for (const { reject } of this.waiting.values()) reject(this.failed);
    this.waiting.clear();
  }

  private hear(line: string): void {
    let message: { id?: unknown; result?: unknown; error?: { message?: string } };
    try {
      message = JSON.parse(line) as typeof message;
    } catch {
      return this.fail(`it said something that is no MCP: ${line.slice(0, 200)}`);
    }
    const waiting = typeof message.id === 'number' ? this.waiting.get(message.id) : undefined;
    if (!waiting) return;
    this.waiting.delete(Number(message.id));
    if (message.error) waiting.reject(failure(message.error.message ?? 'it answered with an error'));
    else waiting.resolve(message.result);
  }

  private write(message: object): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

function failure(why: string): BusError {
  return new BusError('hub-unavailable', `The server that was configured does not work: ${why}.`, {
    next: 'Run `agent-bus status` to see whether the hub is up, then the same command again.',
  });
}
