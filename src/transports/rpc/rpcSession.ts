import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { BusError } from '../../core/errors.ts';
import type { Caller } from '../../core/model.ts';
import type { Reads } from '../../core/ports.ts';
import type { Connection } from '../../core/presence.ts';
import {
  proofText,
  protocolVersion,
  type EventNotification,
  type HelloResult,
  type LoginResult,
} from '../../protocol/messages.ts';
import type { RequestContext } from '../../protocol/calls.ts';
import { Peer } from '../../protocol/peer.ts';
import { UnknownMethod } from '../../protocol/wireErrors.ts';
import { rungs, type CarryResult } from '../../protocol/reachMessages.ts';
import { callForModel, callForProgram } from '../../tools/callTool.ts';
import { forbidden, notThePerson, ownerRequests, personRequests } from './ownerRequests.ts';
import type { RpcHost } from './rpcHost.ts';
import { parse, schemas, type Params } from './rpcSchemas.ts';
import { Subscription } from './subscription.ts';

/** What a carrier says about a wake, and its person to a question: it is one of ours, but maybe of another version. */
const wakeResult = z.object({
  rung: z.enum([...rungs, 'none']),
  note: z
    .string()
    .optional()
    .transform((note) => note?.slice(0, 300)),
});
const askResult = z.object({ verdict: z.enum(['once', 'always', 'never', 'dismissed']) });

const loginSeconds = 10;

const carrierRequests: readonly string[] = ['carry', 'observe', 'terminals'];

/** One connection of one of our own clients: first the proofs, then calls in the name that they gave. */
export class RpcSession {
  readonly peer: Peer;
  private readonly host: RpcHost;
  private readonly reads: Reads;
  private readonly isDraining: () => boolean;
  /** It came by a socket that only the owner of this account can open: that is proof enough. */
  private readonly isOwners: boolean;
  private nonces: { client: string; hub: string } | undefined;
  private caller: Caller | undefined;
  /** Settles when the login that is under way has come to its end, whichever. */
  private entering: Promise<void> | undefined;
  private owner = false;
  /** What it logged in with, unless with the owner's proof: it may be revoked while the connection lasts. */
  private token: string | undefined;
  private connection: Connection | undefined;
  private subscription: Subscription | undefined;
  /** What this connection carries by: a window's id, or that of whatever carries a session. */
  private window: string | undefined;
  private readonly loginTimer: NodeJS.Timeout;
  private readonly closing: (() => void)[] = [];

  constructor(
    socket: Socket,
    host: RpcHost,
    reads: Reads,
    door: { isOwners: boolean; isDraining: () => boolean; onClose: () => void },
  ) {
    this.host = host;
    this.isOwners = door.isOwners;
    this.reads = reads;
    this.isDraining = door.isDraining;
    this.peer = new Peer(socket, {
      handlers: {
        onRequest: (method, params, context) => this.handle(method, params, context),
        onNotification: (method, params) => this.note(method, params),
      },
      onInternalError: (error, method) => host.onInternalError(method, error),
      onClose: () => {
        clearTimeout(this.loginTimer);
        this.subscription?.close();
        this.connection?.close();
        this.noteLeft();
        for (const callback of this.closing) callback();
        door.onClose();
      },
    });
    this.loginTimer = setTimeout(() => {
      if (!this.caller) this.peer.close(unauthorized());
    }, loginSeconds * 1000).unref();
  }

  private handle(method: string, params: unknown, context: RequestContext): unknown {
    if (method === 'hello') return this.hello(parse('hello', params));
    if (method === 'login') return this.enter(parse('login', params));
    // What comes right behind a login is done in the name that it gives.
    const { entering } = this;
    return entering ? entering.then(() => this.serve(method, params, context)) : this.serve(method, params, context);
  }

  private enter(params: Params<'login'>): Promise<LoginResult> {
    const login = this.login(params);
    const entering = login.then(
      () => undefined,
      () => undefined,
    );
    this.entering = entering;
    void entering.then(() => {
      if (this.entering === entering) this.entering = undefined;
    });
    return login;
  }

  private serve(method: string, params: unknown, context: RequestContext): unknown {
    const caller = this.requireCaller();
    switch (method) {
      case 'call':
        return this.call(caller, parse('call', params), context);
      case 'subscribe':
        return this.subscribe(caller, parse('subscribe', params).cursor);
      case 'unsubscribe':
        this.subscription?.close();
        this.subscription = undefined;
        return null;
      case 'presence':
        this.connection?.set(parse('presence', params).state);
        return null;
      default:
        return this.administer(caller, method, params);
    }
  }

  private administer(caller: Caller, method: string, params: unknown): unknown {
    const isPersons = Object.hasOwn(personRequests, method);
    const request = isPersons
      ? personRequests[method]
      : Object.hasOwn(ownerRequests, method)
        ? ownerRequests[method]
        : undefined;
    if (!request && !carrierRequests.includes(method)) throw new UnknownMethod(method);
    if (!this.owner) throw forbidden();
    if (isPersons && caller.agent !== this.host.bus.roster.person.id) throw notThePerson();
    if (request) return request(this.host, caller, params);
    return method === 'carry' ? this.carry(caller, parse('carry', params)) : this.tellAsCarrier(method, params);
  }

  private async tellAsCarrier(method: string, params: unknown): Promise<null> {
    const { window, host } = this;
    if (window === undefined) {
      throw new BusError('invalid-input', 'Only who carries sees chats and has terminals.', {
        next: 'Call carry first.',
      });
    }
    if (method === 'terminals') host.reach.terminals(window, parse('terminals', params).pids);
    else await host.reach.observe(window, parse('observe', params));
    return null;
  }

  private carry(caller: Caller, params: Params<'carry'>): Promise<CarryResult> {
    const { peer } = this;
    this.window = params.window;
    return this.host.reach.carry(caller, params, {
      wake: async (wake, timeoutMs) => wakeResult.parse(await peer.request('wake', wake, { timeoutMs })),
      ask: async (question) => askResult.parse(await peer.request('ask', question)),
      leave: (why) => peer.notify('leave', { why }),
      probe: (signal) => this.probe(signal),
      isOpen: () => peer.isOpen,
      onClose: (callback) => this.closing.push(callback),
    });
  }

  private hello({ nonce }: Params<'hello'>): HelloResult {
    const hub = randomBytes(24).toString('base64url');
    this.nonces = { client: nonce, hub };
    return {
      protocol: protocolVersion,
      version: this.host.version,
      nonce: hub,
      proof: this.host.ownerProof(proofText('hub', nonce, hub)),
    };
  }

  private async login(params: Params<'login'>): Promise<LoginResult> {
    if (this.isDraining())
      throw new BusError('hub-stopping', 'The hub is stopping.', { next: 'Connect again in a moment.' });
    if (this.caller)
      throw new BusError('invalid-input', 'This connection is logged in already.', { next: 'Open another.' });
    const { agent, owner } = params.token !== undefined ? this.byToken(params) : await this.byProof(params);
    this.owner = owner;
    this.token = params.token;
    this.caller = { agent, via: params.via };
    clearTimeout(this.loginTimer);
    if (!params.passing) this.connection = this.host.bus.presence.connect(agent, (signal) => this.probe(signal));
    return { agent: this.host.bus.roster.get(agent).name, owner };
  }

  /** A product ends its bridges with its session; it may have been killed before its hooks could say so. */
  private noteLeft(): void {
    const { caller, connection, isDraining, host } = this;
    if (caller?.via !== 'stdio' || !connection || isDraining()) return;
    // What carries the session may still be there for a moment, and says nothing about it.
    if (!host.bus.presence.isConnectedItself(caller.agent)) host.reach.left(caller.agent);
  }

  private byToken({ token, as }: Params<'login'>): { agent: number; owner: boolean } {
    const caller = this.host.authenticate(token ?? '');
    if (!caller) throw unauthorized();
    // A token is one agent: it opens no other name.
    if (as !== undefined && this.host.bus.roster.find(as)?.id !== caller.agent) throw unauthorized();
    return { agent: caller.agent, owner: false };
  }

  private async byProof({ proof, as, attach }: Params<'login'>): Promise<{ agent: number; owner: boolean }> {
    const text = this.nonces && proofText('client', this.nonces.client, this.nonces.hub);
    this.nonces = undefined;
    const isProved = text !== undefined && proof !== undefined && this.host.isOwnerProof(text, proof);
    if (!isProved && !this.isOwners) throw unauthorized();
    const { roster } = this.host.bus;
    if (attach) return { agent: await this.host.admin.attach(attach), owner: true };
    return { agent: as === undefined ? roster.person.id : roster.require(as).id, owner: true };
  }

  private call(caller: Caller, params: Params<'call'>, context: RequestContext): Promise<unknown> {
    return params.for === 'model'
      ? callForModel(this.host, caller, params.tool, params.args, context)
      : callForProgram(this.host, caller, params.tool, params.args, context);
  }

  private subscribe(caller: Caller, cursor: string | undefined): unknown {
    this.subscription?.close();
    this.subscription = new Subscription(this.host.bus, this.reads, caller, (note) => this.tell(note));
    return this.subscription.resume(cursor);
  }

  private tell(note: EventNotification): void {
    if (this.isWelcome()) this.peer.notify('event', note);
    else this.peer.close(unauthorized());
  }

  private note(method: string, params: unknown): void {
    if (method !== 'shown' || !this.caller || !this.isWelcome()) return;
    // A client reports what it has really put in front of its reader, after it did.
    const seen = schemas.shown.safeParse(params);
    if (!seen.success) return;
    const { ids, route } = seen.data;
    if (route === 'turn' && this.window !== undefined) this.host.reach.noteFinished(this.window, ids);
    else this.host.bus.noteShown(this.caller, ids, route);
  }

  private async probe(signal: AbortSignal): Promise<void> {
    await this.peer.request('ping', {}, { signal });
  }

  private requireCaller(): Caller {
    const { caller } = this;
    if (!caller || !this.isWelcome()) throw unauthorized();
    return caller;
  }

  private isWelcome(): boolean {
    if (!this.caller || this.host.bus.roster.get(this.caller.agent).removed) return false;
    return this.token === undefined || this.host.authenticate(this.token) !== undefined;
  }
}

function unauthorized(): BusError {
  return new BusError('unauthorized', 'The hub does not know you.', {
    next: 'Log in with the owner’s token from the discovery record, or with a token from `agent-bus register`.',
  });
}
