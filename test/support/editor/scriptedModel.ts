/** A language model that says what a test wants: the only thing in these tests that is not real. OpenAI's protocol, streamed. */
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the model does next. `call` may be the short name of a tool: `send` finds `mcp_agent_bus_send`. */
export type Step = { say: string } | { call: string; with?: object } | { fail: number };

/** One request of an agent, read for scripts. */
export interface Turn {
  /** The folder of the window that asks; undefined for requests outside of a workspace. */
  folder: string | undefined;
  /** What was submitted last, as the person or the bus wrote it. */
  prompt: string;
  /** The results of the tools that were called since then. */
  results: string[];
  tools: string[];
  /** Everything the model gets to see, in one text. */
  text: string;
  messages: Message[];
  /** Aborted when the agent no longer wants the answer, as after a cancel. */
  signal: AbortSignal;
}

export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: unknown;
}

/** A script may wait before it answers; the agent is at work meanwhile. */
export type Script = (turn: Turn) => Step | Promise<Step>;

export class ScriptedModel {
  /** Every request so far, the newest last. */
  readonly turns: Turn[] = [];
  /** What went wrong in the scripts themselves. */
  readonly faults: string[] = [];
  private readonly scripts = new Map<string, Script>();
  private readonly server: http.Server;

  private constructor() {
    this.server = http.createServer((request, response) => {
      this.answer(request, response).catch((error: unknown) => {
        this.faults.push(String(error instanceof Error ? error.stack : error));
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: `the test's script: ${String(error)}` } }));
      });
    });
    this.server.requestTimeout = 0;
  }

  static async start(): Promise<ScriptedModel> {
    const model = new ScriptedModel();
    await new Promise<void>((resolve) => model.server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1/chat/completions`;
  }

  /** What the agent in this folder does from now on. */
  script(folder: string, script: Script): void {
    this.scripts.set(folder, script);
  }

  turnsOf(folder: string): Turn[] {
    return this.turns.filter((turn) => turn.folder === folder);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const turn = read(JSON.parse(body) as Completion, gone.signal);
    this.turns.push(turn);
    const script = turn.folder === undefined ? undefined : this.scripts.get(turn.folder);
    const step = script ? await script(turn) : { say: 'No script is set for this window.' };
    if (gone.signal.aborted) return;
    if ('fail' in step) {
      response.writeHead(step.fail, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'failed as the test wants it' } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of 'say' in step ? saying(step.say) : calling(toolNamed(step.call, turn.tools), step.with ?? {})) {
      response.write(`data: ${JSON.stringify({ ...envelope, choices: [{ index: 0, ...chunk }] })}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  }
}

interface Completion {
  messages: Message[];
  tools?: { function: { name: string } }[];
}

interface Chunk {
  delta: object;
  finish_reason: string | null;
}

const envelope = { id: 'scripted', object: 'chat.completion.chunk', created: 1, model: 'scripted' };
let calls = 0;

function saying(text: string): Chunk[] {
  return [
    { delta: { role: 'assistant', content: text }, finish_reason: null },
    { delta: {}, finish_reason: 'stop' },
  ];
}

function calling(name: string, args: object): Chunk[] {
  const call = {
    index: 0,
    id: `call_${++calls}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  };
  return [
    { delta: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: null },
    { delta: {}, finish_reason: 'tool_calls' },
  ];
}

function toolNamed(name: string, tools: string[]): string {
  const found = tools.filter((tool) => tool === name || new RegExp(`[-_]bus_${name}$`).test(tool));
  if (found.length === 1 && found[0] !== undefined) return found[0];
  throw new Error(`${found.length} tools are called ${name}; there are ${tools.join(', ')}`);
}

function read({ messages, tools = [] }: Completion, signal: AbortSignal): Turn {
  const texts = messages.map(textOf);
  const text = texts.join('\n');
  // Peers may quote the paths of others: the first mention is Copilot's own.
  const folder = /following folders:\n- (.+?)\s*\n/.exec(text)?.[1];
  const asked = messages.findLastIndex(({ role }, at) => role === 'user' && texts[at]?.includes('<userRequest>'));
  const prompt = /<userRequest>\n([\s\S]*?)\n<\/userRequest>/.exec(texts[asked] ?? '')?.[1] ?? '';
  const results = texts.filter((_, at) => at > asked && messages[at]?.role === 'tool');
  return { folder, prompt, results, tools: tools.map((tool) => tool.function.name), text, messages, signal };
}

function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: string }) => part.text ?? '').join('\n');
}
