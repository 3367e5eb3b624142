import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { BusError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
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
import { callForModel, callForProgram } from '../../tools/callTool.ts';
import type { RpcHost } from './rpcHost.ts';
import { Subscription } from './subscription.ts';

const name = z.string().max(limits.nameLength);
const schemas = {
  hello: z.object({ protocol: z.number(), nonce: z.string().min(16).max(100) }),
  login: z.object({
    proof: z.string().max(200).optional(),
    token: z.string().max(600).optional(),
    as: name.optional(),
    attach: z
      .object({ workspace: z.string().max(4_096), product: z.string().max(100), name: name.optional() })
      .optional(),
    via: z.enum(['rpc', 'cli', 'stdio']),
    passing: z.boolean().optional(),
  }),
  call: z.object({ tool: z.string().max(100), args: z.unknown(), for: z.enum(['model', 'program']) }),
  subscribe: z.object({ cursor: z.string().max(100).optional() }),
  shown: z.object({
    ids: z.array(z.string().max(20)).max(1_000),
    route: z.enum(['tool-result', 'inbox', 'answer', 'client']).default('client'),
  }),
  presence: z.object({ state: z.enum(['working', 'idle', 'waiting']) }),
  mint: z.object({ name: z.string().max(200), about: z.string().max(limits.aboutLength).optional() }),
  named: z.object({ name: z.string().max(200) }),
  export: z.object({ path: z.string().min(1).max(4_096) }),
  stop: z.object({ reason: z.enum(['stop', 'upgrade']) }),
};

const loginSeconds = 10;

/** One connection of one of our own clients: first the proofs, then calls in the name that they gave. */
export class RpcSession {
  readonly peer: Peer;
  private readonly host: RpcHost;
  private readonly reads: Reads;
  private readonly isDraining: () => boolean;
  private nonces: { client: string; hub: string } | undefined;
  private caller: Caller | undefined;
  private owner = false;
  /** What it logged in with, unless with the owner's proof: it may be revoked while the connection lasts. */
  private token: string | undefined;
  private connection: Connection | undefined;
  private subscription: Subscription | undefined;
  private readonly loginTimer: NodeJS.Timeout;

  constructor(socket: Socket, host: RpcHost, reads: Reads, door: { isDraining: () => boolean; onClose: () => void }) {
    this.host = host;
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
        door.onClose();
      },
    });
    this.loginTimer = setTimeout(() => {
      if (!this.caller) this.peer.close(unauthorized());
    }, loginSeconds * 1000).unref();
  }

  private handle(method: string, params: unknown, context: RequestContext): unknown {
    if (method === 'hello') return this.hello(parse(schemas.hello, params));
    if (method === 'login') return this.login(parse(schemas.login, params));
    const caller = this.requireCaller();
    switch (method) {
      case 'call':
        return this.call(caller, parse(schemas.call, params), context);
      case 'subscribe':
        return this.subscribe(caller, parse(schemas.subscribe, params).cursor);
      case 'unsubscribe':
        this.subscription?.close();
        this.subscription = undefined;
        return null;
      case 'presence':
        this.connection?.set(parse(schemas.presence, params).state);
        return null;
      default:
        return this.administer(method, params);
    }
  }

  private administer(method: string, params: unknown): unknown {
    const { admin } = this.host;
    if (!['status', 'mint', 'revoke', 'remove', 'export', 'stop'].includes(method)) throw new UnknownMethod(method);
    if (!this.owner) {
      throw new BusError('forbidden', 'Only the owner of this machine’s bus may do that.', {
        next: 'Ask the person to do it with the agent-bus command.',
      });
    }
    switch (method) {
      case 'status':
        return admin.status();
      case 'mint': {
        const wanted = parse(schemas.mint, params);
        return admin.mint(wanted.name, wanted.about);
      }
      case 'revoke': {
        const wanted = parse(schemas.named, params);
        return admin.revoke(wanted.name).then((revoked) => ({ name: wanted.name, revoked }));
      }
      case 'remove': {
        const wanted = parse(schemas.named, params);
        return admin.remove(wanted.name).then(() => ({ name: wanted.name }));
      }
      case 'export': {
        const { path } = parse(schemas.export, params);
        return admin.exportTo(path).then((bytes) => ({ path, bytes }));
      }
      default:
        admin.stop(parse(schemas.stop, params).reason);
        return null;
    }
  }

  private hello({ nonce }: z.output<typeof schemas.hello>): HelloResult {
    const hub = randomBytes(24).toString('base64url');
    this.nonces = { client: nonce, hub };
    return {
      protocol: protocolVersion,
      version: this.host.version,
      nonce: hub,
      proof: this.host.ownerProof(proofText('hub', nonce, hub)),
    };
  }

  private async login(params: z.output<typeof schemas.login>): Promise<LoginResult> {
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

  private byToken({ token, as }: z.output<typeof schemas.login>): { agent: number; owner: boolean } {
    const caller = this.host.authenticate(token ?? '');
    if (!caller) throw unauthorized();
    // A token is one agent: it opens no other name.
    if (as !== undefined && this.host.bus.roster.find(as)?.id !== caller.agent) throw unauthorized();
    return { agent: caller.agent, owner: false };
  }

  private async byProof({
    proof,
    as,
    attach,
  }: z.output<typeof schemas.login>): Promise<{ agent: number; owner: boolean }> {
    const text = this.nonces && proofText('client', this.nonces.client, this.nonces.hub);
    this.nonces = undefined;
    if (text === undefined || proof === undefined || !this.host.isOwnerProof(text, proof)) throw unauthorized();
    const { roster } = this.host.bus;
    if (attach)
      return { agent: await this.host.admin.attach(attach.workspace, attach.product, attach.name), owner: true };
    return { agent: as === undefined ? roster.person.id : roster.require(as).id, owner: true };
  }

  private call(caller: Caller, params: z.output<typeof schemas.call>, context: RequestContext): Promise<unknown> {
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
    if (seen.success) this.host.bus.noteShown(this.caller, seen.data.ids, seen.data.route);
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

function parse<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  const parsed = schema.safeParse(params ?? {});
  if (parsed.success) return parsed.data;
  throw new BusError(
    'invalid-input',
    `The parameters do not fit: ${parsed.error.issues[0]?.message ?? 'unknown reason'}.`,
    {
      next: 'Check that client and hub have the same version.',
    },
  );
}

function unauthorized(): BusError {
  return new BusError('unauthorized', 'The hub does not know you.', {
    next: 'Log in with the owner’s token from the discovery record, or with a token from `agent-bus register`.',
  });
}
