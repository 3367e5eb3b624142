import { randomBytes } from 'node:crypto';
import type { Bus } from '../core/bus.ts';
import type { Clock } from '../core/clock.ts';
import { BusError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Caller } from '../core/model.ts';
import { DeliveryPhase } from '../core/model.ts';
import type { Store } from '../core/ports.ts';
import { pushBudget, wakeLine, wakePrompt } from '../core/wakePrompt.ts';
import type {
  AgentReach,
  CarryParams,
  CarryResult,
  ConsentView,
  HeldView,
  HookParams,
  HookResult,
  ObserveParams,
  Verdict,
} from '../protocol/reachMessages.ts';
import { Consents, type Pair } from '../reach/consents.ts';
import { Gate } from '../reach/gate.ts';
import type { Carrier, CarryingWindow, SessionCarrier } from '../reach/carrier.ts';
import { Ladder } from '../reach/ladder.ts';
import { Pause } from '../reach/pause.ts';
import { Sessions } from '../reach/sessions.ts';
import { TypingPermits } from '../reach/typing.ts';
import { Wakes } from '../reach/wakes.ts';
import { Windows } from '../reach/windows.ts';
import type { CarryLink, ReachHost } from '../transports/rpc/rpcHost.ts';
import type { Attachments } from './attachments.ts';
import { ChatPlaces, type ChatAsk } from './chatPlaces.ts';
import { ChatPresence } from './chatPresence.ts';
import { Chats } from './chats.ts';
import { HeardHooks } from './heardHooks.ts';
import { HeldMail } from './heldMail.ts';
import { Hooks } from './hooks.ts';
import { ReachReport } from './reachReport.ts';
import type { Settings } from './settings.ts';

interface ReachParts {
  bus: Bus;
  store: Store;
  clock: Clock;
  attachments: Attachments;
  settings: Pick<Settings, 'limits' | 'reach'>;
  onError: (error: unknown) => void;
}

/** Everything about putting messages in front of agents, wired together. */
export class ReachDesk implements ReachHost {
  private readonly bus: Bus;
  private readonly store: Store;
  private readonly windows = new Windows();
  private readonly sessions = new Sessions();
  private readonly typing: TypingPermits;
  private readonly ladder: Ladder;
  private readonly consents: Consents;
  private readonly pauseState: Pause;
  private readonly chats: Chats;
  private readonly places: ChatPlaces;
  private readonly presence: ChatPresence;
  private readonly gate: Gate;
  private readonly wakes: Wakes;
  private readonly hooks: Hooks;
  private readonly reports: ReachReport;
  private readonly heard: HeardHooks;
  private readonly held: HeldMail;
  private readonly onError: (error: unknown) => void;

  constructor({ bus, store, clock, attachments, settings, onError }: ReachParts) {
    const { windows, sessions } = this;
    const { quietMinutes, staleSeconds, proofSeconds } = settings.reach;
    this.bus = bus;
    this.store = store;
    this.onError = onError;
    this.consents = new Consents(store, clock);
    this.pauseState = new Pause(store, bus);
    const { consents, pauseState: pause } = this;
    const spans = { quietMs: quietMinutes * 60_000, staleMs: staleSeconds * 1000 };
    this.chats = new Chats({ bus, store, clock, windows, ...spans });
    const { chats } = this;
    this.typing = new TypingPermits(store);
    const agentOf = bus.roster.get.bind(bus.roster);
    this.ladder = new Ladder({ windows, sessions, typing: this.typing, chats, agentOf });
    const { ladder } = this;
    this.places = new ChatPlaces({ bus, clock, chats, windows, attachments });
    this.presence = new ChatPresence({ bus, clock, chats, windows, ladder, pause });
    const { wakeHops } = settings.limits;
    this.gate = new Gate({ bus, store, consents, wakeHops, onDecided: (agent) => this.decided(agent) });
    const { gate } = this;
    this.wakes = new Wakes({
      bus,
      store,
      chats,
      ladder,
      gate,
      pause,
      prompt: wakePrompt,
      line: wakeLine,
      newToken: () => `wake-${randomBytes(16).toString('base64url')}`,
      atOnce: pushBudget.messages,
      proofMs: proofSeconds * 1000,
      now: () => clock.now(),
      onError,
    });
    this.heard = new HeardHooks(store, clock);
    this.held = new HeldMail({ bus, store, ladder });
    const { heard, held, typing } = this;
    this.hooks = new Hooks({ bus, store, chats, gate, pause, wakes: this.wakes, heard });
    this.reports = new ReachReport({ bus, chats, ladder, pause, typing, heard, held });
    this.listen();
  }

  get paused(): boolean {
    return this.pauseState.on;
  }

  /** Of which products a hook was heard, and when. */
  get hooksHeard(): Record<string, string> {
    return this.heard.products();
  }

  close(): void {
    this.wakes.close();
    this.presence.close();
  }

  knows(chat: string): boolean {
    return this.chats.get(chat) !== undefined;
  }

  bind(ask: ChatAsk): Promise<number> {
    return this.places.bind(ask);
  }

  async carry(caller: Caller, params: CarryParams, link: CarryLink): Promise<CarryResult> {
    const { window: id, session } = params;
    const carrier: Carrier = { id, rungs: [...new Set(params.rungs)], wake: link.wake, probe: link.probe };
    if (session) this.carrySession({ ...carrier, session, leave: link.leave }, link);
    else await this.carryWindow({ ...carrier, home: this.homeOf(caller), ask: link.ask }, link);
    return { paused: this.paused };
  }

  private async carryWindow(window: CarryingWindow, link: CarryLink): Promise<void> {
    await this.chats.arrive(window);
    if (!link.isOpen()) return;
    const leave = this.windows.add(window);
    link.onClose(() => {
      if (leave()) this.showChats();
    });
    this.showWindow(window);
    this.wakes.arrived(window);
  }

  private carrySession(carrier: SessionCarrier, link: CarryLink): void {
    const leave = this.sessions.add(carrier);
    link.onClose(() => {
      if (!leave()) return;
      this.showChats();
      // Another way may be the best one now, or the only one beyond doubt.
      this.wakes.sweep();
    });
    this.showChats();
    this.wakes.sessionArrived(carrier);
  }

  private homeOf(caller: Caller): number {
    if (caller.agent !== this.bus.roster.person.id) return caller.agent;
    throw new BusError('invalid-input', 'The person’s connection carries no agent.', {
      next: 'Log in with `attach`, then carry; or say which `session` you carry.',
    });
  }

  terminals(window: string, pids: readonly number[]): void {
    this.windows.setTerminals(window, pids);
    this.showChats();
    this.wakes.sweep();
  }

  async setTyping(name: string, on: boolean): Promise<void> {
    const agent = this.bus.roster.require(name);
    await this.typing.set(agent.id, on);
    this.presence.tell(agent.id);
    this.bus.feed.publish({ type: 'presence', agent: agent.id });
    this.wakes.nudge(agent.id);
  }

  async observe(carrier: string, { chat: id, state, at }: ObserveParams): Promise<void> {
    const chat = this.chats.get(id);
    const isIts = chat && this.ladder.carriersOf(chat).some((one) => one.id === carrier);
    if (isIts) await this.chats.see(id, { state, at });
  }

  noteFinished(carrier: string, ids: readonly string[]): void {
    this.wakes.noteFinished(carrier, ids);
  }

  hook(caller: Caller, params: HookParams): Promise<HookResult> {
    return this.hooks.hook(caller, params);
  }

  /** In a window the editor goes on to tell of its chats. */
  left(agent: number): void {
    const chat = this.chats.holder(agent);
    if (chat?.window === '') this.chats.tell(chat.id, { type: 'gone' }).catch(this.onError);
  }

  async pause(on: boolean): Promise<void> {
    await this.pauseState.set(on);
    this.showChats();
    this.wakes.sweep();
  }

  async release(caller: Caller, id: string, verdict: Verdict): Promise<void> {
    const message = this.bus.visibility.message(caller, id);
    const recipients = this.store
      .deliveries(message.seq)
      .filter(({ phase }) => phase === DeliveryPhase.unread)
      .map(({ agent }) => this.bus.roster.get(agent))
      .filter(({ kind }) => kind !== 'person');
    for (const { id: agent } of recipients) this.wakes.retry(agent, message.seq);
    await this.gate.release(message, recipients, verdict);
  }

  report(agent?: string): AgentReach[] {
    return this.reports.list(agent);
  }

  listConsents(): ConsentView[] {
    return this.consents.list();
  }

  listHeld(): HeldView[] {
    return this.held.list();
  }

  async forget(pair: Pair): Promise<void> {
    await this.consents.forget(pair);
    this.wakes.sweep();
  }

  /**
   * Who speaks in a call that names its chat: that chat's agent, if the token is the window's own or of the same product
   * in the same workspace. Whatever else is named, a token speaks for its own agent.
   */
  speaker(caller: Caller, meta: Record<string, unknown> | undefined, tool: string): Caller | Promise<Caller> {
    const chat = meta?.['vscode.conversationId'];
    if (typeof chat !== 'string' || chat === '' || chat.length > limits.chatIdLength) return caller;
    const own = this.bus.roster.get(caller.agent);
    const known = this.chats.get(chat);
    const window = this.windows.ofHome(caller.agent);
    const isSame = known?.workspace === own.workspace && known.product === own.product && own.workspace !== '';
    if (known ? known.home !== own.id && !isSame : !window) return caller;
    const { workspace, product } = own;
    return this.bind({ chat, workspace, product, window: window?.id }).then((agent) => {
      this.chats.noteRunning(chat, tool);
      return { ...caller, agent };
    });
  }

  private listen(): void {
    const { bus, chats } = this;
    bus.views.carried = (agent) => this.presence.carried(agent);
    bus.turnHop = (agent) => chats.turnHop(agent);
    bus.underWay = (agent) => this.wakes.underWay(agent);
    bus.onShown = (agent, seqs) => {
      this.noteCause(agent, seqs);
      this.wakes.noteSeen(agent, seqs);
    };
    bus.heldBack = (recipient, message) =>
      this.paused ? 'paused by the person' : this.gate.heldWhy(recipient, message);
    bus.tells.isIdle = (agent) => this.isIdle(agent);
    chats.onLeft = (chat) => this.presence.update(chat);
    chats.onRest = (chat) => this.wakes.rested(chat.agent);
    chats.onChange = (chat) => {
      if (chat.state === 'gone') this.sessions.ended(chat.id);
      this.presence.update(chat);
      bus.tells.look(chat.agent);
      if (chat.state === 'idle') this.wakes.nudge(chat.agent);
      const home = this.windows.get(chat.window)?.home;
      if (home !== undefined && chat.state !== 'working' && home !== chat.agent) this.wakes.nudge(home);
    };
  }

  /** Known to be: its chat's last turn has ended; or, where no hook tells of chats, it is connected and at nothing. */
  private isIdle(agent: number): boolean {
    const { presence } = this.bus;
    const chat = this.chats.holder(agent);
    if (!chat || chat.state === 'gone') return presence.isConnected(agent) && presence.of(agent) === 'idle';
    return chat.state === 'idle' && !chat.waking && !chat.asking && presence.of(agent) === 'idle';
  }

  /** A request that an agent is shown in the middle of a turn drives what comes after it in this turn. */
  private noteCause(agent: number, seqs: readonly number[]): void {
    if (!this.chats.holder(agent)) return;
    for (const seq of seqs) {
      const message = this.store.message(seq);
      if (message?.kind === 'request') this.chats.raiseHop(agent, this.gate.hopFor(agent, message));
    }
  }

  /** Any of them may be carried by somebody else now, or by nobody. */
  private showChats(): void {
    for (const chat of this.chats.all()) this.presence.update(chat);
    for (const { home } of this.windows.all()) this.presence.tell(home);
  }

  private showWindow(window: CarryingWindow): void {
    for (const chat of this.chats.inWindow(window.id)) this.presence.update(chat);
    this.presence.tell(window.home);
  }

  private decided(agent: number | undefined): void {
    if (agent === undefined) this.wakes.sweep();
    else this.wakes.nudge(agent);
  }
}
