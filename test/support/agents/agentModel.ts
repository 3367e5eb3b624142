/** The language model behind one agent product: the only thing in these tests that is not real. */
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { asText, type Item, type ModelWire, type Output, type Step, type Tool } from './modelWire.ts';
import { anthropicMessages } from './wires/anthropicMessages.ts';
import { geminiContent } from './wires/geminiContent.ts';
import { openaiChat } from './wires/openaiChat.ts';
import { openaiResponses } from './wires/openaiResponses.ts';

/** One request of the agent's own conversation; side questions of the product are answered and not told. */
export interface Turn {
  /** Milliseconds as `performance.now()` counts them. */
  at: number;
  /** Counts from 1. */
  number: number;
  items: Item[];
  tools: string[];
  /** What others said that was not in the request before: what is new to the model. */
  fresh: string;
  /** Everything the model gets to see, in one text. */
  text: string;
}

/** May wait before it answers; the agent is at work meanwhile. */
export type Script = (turn: Turn) => Step | undefined | Promise<Step | undefined>;

const wires: readonly ModelWire[] = [anthropicMessages, openaiResponses, openaiChat, geminiContent];
const nothingToDo: Step = { say: 'All done.' };

export class AgentModel {
  readonly turns: Turn[] = [];
  /** What went wrong in the scripts themselves. */
  readonly faults: string[] = [];
  /** What products ask for in vain. */
  readonly unserved: string[] = [];
  private readonly server: http.Server;
  private readonly watchers = new Set<() => void>();
  private script: Script = () => undefined;
  private serial = 0;
  /** The call whose tool is being searched for. */
  private searched: Step | undefined;

  private constructor() {
    this.server = http.createServer((request, response) => {
      this.answer(request, response).catch((error: unknown) => {
        this.fault(asText(error instanceof Error ? error.stack : error));
        response.writeHead(400).end();
      });
    });
    this.server.requestTimeout = 0;
    this.server.keepAliveTimeout = 600_000;
  }

  static async start(): Promise<AgentModel> {
    const model = new AgentModel();
    await new Promise<void>((resolve) => model.server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** What the model does from now on; where the script has nothing to say, the turn ends. */
  follow(script: Script): void {
    this.script = script;
  }

  /** One step per request, then every turn ends. */
  followSteps(...steps: (Step | Script)[]): void {
    const left = [...steps];
    this.script = (turn) => {
      const step = left.shift();
      return typeof step === 'function' ? step(turn) : step;
    };
  }

  /** The first request, past or to come, of which this is true. */
  async turn(what: string, matches: (turn: Turn) => boolean, patienceMs = 60_000): Promise<Turn> {
    const find = () => this.turns.find(matches);
    return (
      find() ??
      new Promise<Turn>((resolve, reject) => {
        const watcher = () => {
          const found = find();
          if (found) settle(() => resolve(found));
          else if (this.faults.length > 0) settle(() => reject(new Error(`${what}: ${this.faults.join('\n')}`)));
        };
        const timer = setTimeout(() => settle(() => reject(new Error(this.inVain(what, patienceMs)))), patienceMs);
        const settle = (how: () => void) => {
          clearTimeout(timer);
          this.watchers.delete(watcher);
          how();
        };
        this.watchers.add(watcher);
        watcher();
      })
    );
  }

  /** The first request after `since` in which this text is new. */
  hears(text: string, since: Turn | number = 0, patienceMs?: number): Promise<Turn> {
    const after = typeof since === 'number' ? since : since.number;
    return this.turn(`hears "${text}"`, (turn) => turn.number > after && turn.fresh.includes(text), patienceMs);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private inVain(what: string, patienceMs: number): string {
    const seen = this.turns.map((turn) => `  ${turn.number}: …${turn.fresh.slice(-300).replaceAll('\n', '⏎')}`);
    return `waited ${patienceMs} ms in vain until the model ${what}; it saw\n${seen.join('\n')}`;
  }

  private async answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk as string;
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const wire = request.method === 'POST' ? wires.find((candidate) => candidate.serves(path)) : undefined;
    if (!wire) return this.besides(path, response);
    const body: unknown = JSON.parse(text);
    const { items, tools, wantsJson } = wire.read(body);
    const serial = ++this.serial;
    // Titles, summaries and choices of a model are asked for without tools.
    const side = wantsJson || tools.length === 0;
    const output = side ? { say: sideAnswer } : await this.next(items, tools);
    if (response.destroyed) return;
    const answer = wire.write(output, { serial, path, body });
    const type = answer.startsWith('{') ? 'application/json' : 'text/event-stream';
    response.writeHead(200, { 'content-type': type }).end(answer);
  }

  private async next(items: Item[], tools: Tool[]): Promise<Output> {
    const join = (some: Item[]) => some.map((item) => item.text).join('\n');
    const turn: Turn = {
      at: performance.now(),
      number: this.turns.length + 1,
      items,
      tools: tools.map((tool) => `${tool.group ?? ''}${tool.name}`),
      fresh: join(newItems(items, this.turns.at(-1)?.items ?? [])),
      text: join(items),
    };
    this.turns.push(turn);
    for (const watcher of [...this.watchers]) watcher();
    try {
      const step = this.searched ?? (await this.script(turn)) ?? nothingToDo;
      return this.outputOf(step, tools);
    } catch (error) {
      // A refusal would be tried again; like this the turn ends, and whoever waits for more of it hears why.
      this.fault((error as Error).message);
      return { say: 'The script of the test has failed.' };
    }
  }

  /** Claude keeps most tools behind a search, which also waits for servers that are still connecting. */
  private outputOf(step: Step, tools: Tool[]): Output {
    if ('say' in step) return step;
    const found = toolNamed(step.call, tools);
    const search = tools.find(({ name }) => name === 'ToolSearch');
    if (!found && search && !this.searched) {
      this.searched = step;
      return { call: search, with: { query: `select:mcp__agent-bus__${step.call}`, max_results: 3 } };
    }
    this.searched = undefined;
    if (found) return { call: found, with: step.with ?? {} };
    throw new Error(`no tool is called ${step.call}; there are ${tools.map((tool) => tool.name).join(', ')}`);
  }

  private fault(text: string): void {
    this.faults.push(text);
    for (const watcher of [...this.watchers]) watcher();
  }

  private besides(path: string, response: http.ServerResponse): void {
    const found = besidePaths.find(([pattern]) => pattern.test(path));
    if (!found) this.unserved.push(path);
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found?.[1] ?? { error: { message: 'not scripted' } }));
  }
}

/** For every side question that is known, one document answers them all. */
const sideAnswer = JSON.stringify({
  title: 'A test',
  reasoning: 'a test',
  model_choice: 'flash',
  complexity_reasoning: 'a test',
  complexity_score: 1,
  next_speaker: 'user',
});

/** What products ask for besides: counts of tokens, lists of models. */
const besidePaths: readonly [RegExp, object][] = [
  [/count_?tokens/i, { input_tokens: 10, totalTokens: 10 }],
  [/\/models$/, { object: 'list', data: [{ id: 'scripted', object: 'model' }], models: [] }],
];

/** Products put their own calls, reminders and results between ours, so the place says nothing. */
function newItems(items: Item[], before: Item[]): Item[] {
  const known = before.map(({ by, text }) => `${by} ${text}`);
  return items.filter(({ by, text }) => {
    const at = known.indexOf(`${by} ${text}`);
    if (at >= 0) known.splice(at, 1);
    return at < 0 && by !== 'assistant' && by !== 'call';
  });
}

/** Tools of the bus come first: products have some of the same short name. */
function toolNamed(name: string, tools: Tool[]): Tool | undefined {
  const ofBus = new RegExp(`agent[-_]bus[-_.]*${name}$`);
  return (
    tools.find((tool) => ofBus.test(`${tool.group ?? ''}${tool.name}`)) ?? tools.find((tool) => tool.name === name)
  );
}
