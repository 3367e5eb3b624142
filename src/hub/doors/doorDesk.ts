import type { Bus } from '../../core/bus.ts';
import type { Clock } from '../../core/clock.ts';
import { BusError, type ErrorShape } from '../../core/errors.ts';
import type { DoorName, DoorParams, DoorView } from '../../protocol/doorMessages.ts';
import type { SqliteStore } from '../../storage/sqliteStore.ts';
import { openBrokerDoor } from '../../transports/agentTool/brokerDoor.ts';
import { openFrameDoor } from '../../transports/agentTool/frameDoor.ts';
import { PeerList } from '../../transports/agentTool/peerAddresses.ts';
import type { Log } from '../log.ts';
import { changedConfig, defaultConfig, readConfig, type DoorConfig } from './doorConfig.ts';
import { DoorSlot } from './doorSlot.ts';
import { FrameMail } from './frameMail.ts';
import { Mailboxes } from './mailboxes.ts';
import { TcpCourier } from './tcpCourier.ts';

export interface DoorParts {
  bus: Bus;
  store: SqliteStore;
  clock: Clock;
  log: Log;
  isPaused: () => boolean;
  /** Somebody came through a door. */
  onActivity: () => void;
}

const key = 'doors';
const againMs = 10_000;

/** Opens and closes the doors for agent-tool, and remembers which are to be open. */
export class DoorDesk {
  readonly courier: TcpCourier;
  private readonly store: SqliteStore;
  private readonly bus: Bus;
  private readonly mail: FrameMail;
  private readonly frames: DoorSlot;
  private readonly broker: DoorSlot;
  /** What is on disk for a door and can't be read; it stays there until somebody sets that door. */
  private readonly unreadable = new Map<DoorName, unknown>();
  private peers: PeerList;
  /** One change at a time. */
  private turn: Promise<unknown> = Promise.resolve();
  private again: NodeJS.Timeout | undefined;
  private closed = false;

  constructor({ bus, store, clock, log, isPaused, onActivity }: DoorParts) {
    this.bus = bus;
    this.store = store;
    const kept = parsed(store.meta(key));
    const peers = (): PeerList => this.peers;
    this.mail = new FrameMail({ bus, store, log, onActivity, recipient: () => this.frames.config.to, peers });
    const mailboxes = new Mailboxes({ bus, store });
    const onError = (error: unknown): void => log.warn('broker-door', { error });
    this.frames = this.slot('frames', kept, (config) => openFrameDoor(this.mail, config), log);
    this.broker = this.slot(
      'broker',
      kept,
      ({ port }) => openBrokerDoor(mailboxes, { port, onActivity, onError }),
      log,
    );
    this.peers = new PeerList(this.frames.config.peers);
    this.courier = new TcpCourier({ bus, store, clock, log, isPaused, peers, ownPort: () => this.frames.port });
  }

  /** Opens what was open before. A port that is taken is no reason for the hub not to start. */
  async start(): Promise<void> {
    this.mail.start();
    await this.inTurn(() => this.openWanting());
    this.courier.start();
  }

  list(): DoorView[] {
    return this.slots.map((slot) => slot.view());
  }

  set(params: DoorParams): Promise<DoorView> {
    return this.inTurn(async () => {
      if (this.closed) throw new BusError('hub-stopping', 'The hub is stopping.', { next: 'Try again in a moment.' });
      const slot = params.door === 'frames' ? this.frames : this.broker;
      const config = changedConfig(this.bus, slot.config, params);
      await slot.change(config, (next) => this.keep(slot, next));
      this.peers = new PeerList(this.frames.config.peers);
      this.tryAgain();
      return slot.view();
    });
  }

  /** Whether the hub has to stay: a door that is switched on is to be found open, and mail is to be tried again. */
  get isNeeded(): boolean {
    return this.courier.isBusy || this.slots.some(({ config }) => config.on);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.again);
    await this.turn;
    const ends = await Promise.allSettled([...this.slots.map((slot) => slot.close()), this.courier.close()]);
    this.mail.close();
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  private get slots(): DoorSlot[] {
    return [this.frames, this.broker];
  }

  private slot(name: DoorName, kept: unknown, listen: ConstructorParameters<typeof DoorSlot>[2], log: Log): DoorSlot {
    // A text that is no JSON at all is damage of both.
    const mine = typeof kept === 'object' && kept !== null ? (kept as Record<string, unknown>)[name] : kept;
    try {
      return new DoorSlot(name, readConfig(name, mine), listen, log);
    } catch (error) {
      log.error('door-config-unreadable', { door: name, error });
      this.unreadable.set(name, mine);
      const slot = new DoorSlot(name, defaultConfig[name], listen, log);
      slot.trouble = unreadable(name);
      return slot;
    }
  }

  private async keep(changed: DoorSlot, config: DoorConfig): Promise<void> {
    const next = Object.fromEntries(
      this.slots.map((slot) => [
        slot.name,
        slot === changed ? config : this.unreadable.has(slot.name) ? this.unreadable.get(slot.name) : slot.config,
      ]),
    );
    await this.store.remember(key, JSON.stringify(next));
    this.unreadable.delete(changed.name);
  }

  private async openWanting(): Promise<void> {
    if (this.closed) return;
    for (const slot of this.slots) await slot.tryOpen();
    this.tryAgain();
  }

  private tryAgain(): void {
    clearTimeout(this.again);
    if (this.closed || !this.slots.some((slot) => slot.isWanting)) return;
    this.again = setTimeout(() => void this.inTurn(() => this.openWanting()), againMs).unref();
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.turn.then(work);
    this.turn = done.catch(() => undefined);
    return done;
  }
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function unreadable(door: DoorName): ErrorShape {
  return {
    code: 'bad-data',
    message: 'What was stored about this door can’t be read, so it stays shut.',
    next: `Set it anew: \`agent-bus door ${door} on\`, or \`off\`.`,
  };
}
