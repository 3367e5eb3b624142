import type { IncomingMessage, ServerResponse } from 'node:http';
import { AgentCard } from '@a2a-js/sdk';
import type { Bus } from '../../core/bus.ts';
import type { BusError } from '../../core/errors.ts';
import type { AgentRecord, Caller } from '../../core/model.ts';
import type { Store } from '../../core/ports.ts';
import { notFound } from '../guard.ts';
import type { HttpCall, Route } from '../httpDoor.ts';
import { Beat } from '../mcp/beat.ts';
import { answerJson, headerOf, leavingSignal } from './answers.ts';
import { answerJsonRpc, answerUnreadable } from './jsonRpcBinding.ts';
import { OpenAgent } from './openAgent.ts';
import { legacyCard, openCard } from './openCard.ts';
import { answerRest, answerUnreadableRest } from './restBinding.ts';
import { TaskWatch } from './taskWatch.ts';

export interface A2aRouteParts {
  bus: Bus;
  store: Store;
  version: string;
  /** Under which address this door is reached, such as http://127.0.0.1:4711; known once it is open. */
  baseUrl: () => string;
  onError: (error: unknown) => void;
  onActivity?: () => void;
  timings?: Partial<typeof usual>;
}

const usual = {
  /** How long a call waits for its task: clients and proxies give up after a minute. */
  answerMs: 50_000,
  /** How often something passes through a quiet stream. */
  beatMs: 12_000,
};

export interface A2aRoute extends Route {
  /** Somebody outside may ask an open agent at any time, and can't start the hub for it. */
  readonly isNeeded: boolean;
}

/** The agents of this bus that are open, as A2A agents: everything below /a2a/. */
export function a2aRoute(parts: A2aRouteParts): A2aRoute {
  return new OpenAgents(parts);
}

/** What a path below /a2a/ asks for. */
interface Target {
  agent: AgentRecord;
  /** What follows the name, beginning with a slash or empty. */
  rest: string;
  query: URLSearchParams;
}

class OpenAgents implements A2aRoute {
  readonly mayBeEmpty = true;
  private readonly parts: A2aRouteParts;
  private readonly watch: TaskWatch;
  private readonly timings: typeof usual;
  private readonly beat: Beat;

  constructor(parts: A2aRouteParts) {
    this.parts = parts;
    this.timings = { ...usual, ...parts.timings };
    this.beat = new Beat(this.timings.beatMs);
    this.watch = new TaskWatch(parts.bus);
  }

  get isNeeded(): boolean {
    return this.parts.bus.roster.all().some(({ open }) => open);
  }

  /** A card, for everybody: it is read before a client logs in. */
  visit(req: IncomingMessage, res: ServerResponse): void {
    const target = this.target(req);
    if (!target) return nothingHere(res);
    const card = this.card(target.agent);
    const isLegacy = target.rest.endsWith('/agent.json') || !headerOf(req, 'a2a-version')?.startsWith('1.');
    answerJson(res, 200, isLegacy ? legacyCard(card) : AgentCard.toJSON(card), {
      headers: { 'cache-control': 'no-cache', vary: 'A2A-Version' },
    });
  }

  unreadable(req: IncomingMessage, res: ServerResponse, { message, next }: BusError): void {
    const target = this.target(req);
    if (!target) return nothingHere(res);
    if (isRpc(target.rest)) answerUnreadable(res, `${message} ${next}`);
    else answerUnreadableRest(res, target.rest, `${message} ${next}`);
  }

  async handle(req: IncomingMessage, res: ServerResponse, { caller: { agent: id }, body }: HttpCall): Promise<void> {
    const { bus, store, onError, onActivity } = this.parts;
    onActivity?.();
    bus.touch(id);
    const target = this.target(req);
    if (!target) return nothingHere(res);
    const { agent, rest, query } = target;
    const caller: Caller = { agent: id, via: 'a2a' };
    const handler = new OpenAgent(
      { bus, store, watch: this.watch, answerMs: this.timings.answerMs, onError },
      { agent, caller, card: this.card(agent), signal: leavingSignal(res) },
    );
    const noteShown = (ids: readonly string[]): void => bus.noteShown(caller, ids, 'a2a');
    const call = { req, res, body, handler, beat: this.beat, noteShown };
    if (req.method === 'POST' && isRpc(rest)) return answerJsonRpc(call);
    if (!(await answerRest(call, rest, query))) nothingHere(res);
  }

  /** The former name of an agent still leads to it. Unknown, removed and closed agents look alike. */
  private target(req: IncomingMessage): Target | undefined {
    const [path = '', query] = splitOnce(req.url ?? '', '?');
    const [, name = '', rest = ''] = /^\/a2a\/([^/]+)(\/.*)?$/s.exec(path) ?? [];
    const agent = this.parts.bus.roster.find(name);
    if (!agent?.open || agent.removed || agent.kind === 'person') return undefined;
    return { agent, rest, query: new URLSearchParams(query) };
  }

  private card(agent: AgentRecord): AgentCard {
    return openCard(agent, `${this.parts.baseUrl()}/a2a/${agent.name}`, this.parts.version);
  }
}

function nothingHere(res: ServerResponse): void {
  answerJson(res, notFound.status, { error: notFound.error });
}

/** The agent's own address, with or without a slash at its end. */
function isRpc(rest: string): boolean {
  return rest === '' || rest === '/';
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
