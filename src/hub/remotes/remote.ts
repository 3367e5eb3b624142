import type { Bus } from '../../core/bus.ts';
import type { Clock } from '../../core/clock.ts';
import { BusError } from '../../core/errors.ts';
import type { AgentRecord, RemoteRecord } from '../../core/model.ts';
import type { Store } from '../../core/ports.ts';
import type { Connection } from '../../core/presence.ts';
import { GuardedFetch } from '../../transports/a2a/guardedFetch.ts';
import { readCard, type RemoteCard } from '../../transports/a2a/remoteCard.ts';
import { RemoteClient } from '../../transports/a2a/remoteClient.ts';
import type { Settings } from '../settings.ts';

export interface RemoteWorld {
  bus: Bus;
  store: Store;
  clock: Clock;
  settings: Settings['a2a'];
}

/**
 * An agent elsewhere: the way to it, and whether it is there. It is taken to be there until a call to it or a look at its
 * card fails; then its card is looked at, ever less often, until it can be read; then those who wait try again.
 */
export class Remote {
  readonly agent: AgentRecord;
  readonly url: string;
  private readonly world: RemoteWorld;
  private record: RemoteRecord;
  private web: GuardedFetch;
  private currentClient: RemoteClient;
  private presence: Connection | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly ending = new AbortController();
  /** Since the last call that went well. */
  private failures = 0;
  private readonly waiting = new Set<(there: boolean) => void>();
  private working = 0;
  /** Since when it could not be reached. */
  downSince: number | undefined;

  constructor(world: RemoteWorld, agent: AgentRecord, record: RemoteRecord) {
    this.world = world;
    this.agent = agent;
    this.url = record.url;
    this.record = record;
    const card = JSON.parse(record.card) as RemoteCard;
    this.web = guardFor(world.settings, record, card);
    this.currentClient = new RemoteClient(card, this.web);
  }

  get client(): RemoteClient {
    return this.currentClient;
  }

  get addedBy(): number {
    return this.record.addedBy;
  }

  get secret(): RemoteRecord['secret'] {
    return this.record.secret;
  }

  get trouble(): string | undefined {
    return this.downSince === undefined ? undefined : (this.record.trouble ?? 'it can’t be reached');
  }

  /** What the agent said, without the secret that it was told. */
  readonly clean = (text: string): string => this.web.clean(text);

  /** As the last hub left it, until it was looked at; which is at once, unless that has just been done. */
  start({ looked }: { looked: boolean }): void {
    if (this.record.health === 'down') this.downSince = this.record.checkedAt;
    else this.appear();
    this.arm(looked ? this.delay() : 0);
  }

  /** Its card and maybe its secret are new. */
  async renew(card: RemoteCard, secret: RemoteRecord['secret']): Promise<void> {
    this.record = { ...this.record, card: JSON.stringify(card), secret, health: 'ok', trouble: null };
    await this.world.store.write((tx) => tx.putRemote(this.record));
    this.web.close();
    this.web = guardFor(this.world.settings, this.record, card);
    this.currentClient = new RemoteClient(card, this.web);
    this.isThere();
  }

  /** Rejects with the reason if its card can't be read. */
  async probe(signal: AbortSignal): Promise<void> {
    await readCard(this.web, this.url, signal);
  }

  /** A call went well. */
  worked(): void {
    this.failures = 0;
    if (this.downSince !== undefined) this.isThere();
    else this.world.bus.touch(this.agent.id);
  }

  /** A call did not get through. */
  failed(reason: string): void {
    if (this.downSince !== undefined) return;
    this.vanish(reason);
    this.arm();
  }

  /** After the next look at it: whether it is there. */
  nextTry(signal: AbortSignal): Promise<boolean> {
    if (this.downSince === undefined) return Promise.resolve(true);
    return new Promise((resolve, reject) => {
      const done = (there: boolean): void => {
        this.waiting.delete(done);
        signal.removeEventListener('abort', leave);
        resolve(there);
      };
      const leave = (): void => {
        this.waiting.delete(done);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.add(done);
      // Somebody waits now: it is looked at more often.
      if (this.waiting.size === 1) this.arm();
    });
  }

  /** How much it has to do. */
  set tasks(count: number) {
    const was = this.working;
    this.working = count;
    if (was > 0 !== count > 0) this.presence?.set(count > 0 ? 'working' : 'idle');
  }

  get tasks(): number {
    return this.working;
  }

  /** Says goodbye to whoever waits; nothing more is written of it. */
  close(): void {
    this.ending.abort();
    clearTimeout(this.timer);
    this.presence?.close();
    this.presence = undefined;
    this.web.close();
  }

  private get closed(): boolean {
    return this.ending.signal.aborted;
  }

  private arm(delay = this.delay()): void {
    clearTimeout(this.timer);
    if (this.closed) return;
    this.timer = setTimeout(() => void this.look(), Math.min(delay, 2 ** 31 - 1)).unref();
  }

  private delay(): number {
    const { pollSeconds, pollAtMostSeconds, healthMinutes } = this.world.settings;
    if (this.downSince === undefined) return healthMinutes * 60_000;
    const most = this.waiting.size > 0 ? pollAtMostSeconds * 1000 : healthMinutes * 60_000;
    return Math.min(pollSeconds * 1000 * 2 ** Math.min(this.failures, 30), most);
  }

  private async look(): Promise<void> {
    try {
      const card = await readCard(this.web, this.url, this.ending.signal);
      if (this.closed) return;
      if (JSON.stringify(card) !== this.record.card) this.recard(card);
      this.isThere();
    } catch (error) {
      if (this.closed) return;
      this.vanish(error instanceof BusError ? this.clean(error.message) : 'its card could not be read');
      for (const resolve of [...this.waiting]) resolve(false);
    }
    this.arm();
  }

  private recard(card: RemoteCard): void {
    this.record = { ...this.record, card: JSON.stringify(card) };
    this.currentClient = new RemoteClient(card, this.web);
    const { bus } = this.world;
    bus.roster.describe(this.agent, { about: card.about, skills: card.skills }).catch(() => undefined);
  }

  private isThere(): void {
    this.downSince = undefined;
    this.appear();
    this.note('ok', null);
    for (const resolve of [...this.waiting]) resolve(true);
  }

  private vanish(reason: string): void {
    this.failures++;
    this.downSince ??= this.world.clock.now();
    this.presence?.close();
    this.presence = undefined;
    this.note('down', reason);
  }

  private appear(): void {
    if (this.presence || this.closed) return;
    this.presence = this.world.bus.presence.connect(this.agent.id, (signal) => this.probe(signal));
    if (this.working > 0) this.presence.set('working');
  }

  private note(health: RemoteRecord['health'], trouble: string | null): void {
    this.record = { ...this.record, health, trouble, checkedAt: this.world.clock.now() };
    this.world.store.later((tx) => {
      // As it is by then: what was removed meanwhile does not come back, and an old secret does not, either.
      if (!this.closed) tx.putRemote(this.record);
    });
  }
}

function guardFor(settings: Settings['a2a'], record: RemoteRecord, card: RemoteCard): GuardedFetch {
  const rule = { allowLinkLocal: settings.allowLinkLocal, nearest: card.near };
  return new GuardedFetch({ rule, home: record.url, secret: record.secret });
}
