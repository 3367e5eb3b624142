import type { Bus } from '../../core/bus.ts';
import type { Clock } from '../../core/clock.ts';
import type { RemoteTaskView } from '../../core/couriers.ts';
import type { BusEvent } from '../../core/events.ts';
import type { MessageRecord, RemoteTaskRecord } from '../../core/model.ts';
import { DeliveryPhase } from '../../core/model.ts';
import type { Store } from '../../core/ports.ts';
import { isoTime } from '../../core/views.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';
import type { Remote } from './remote.ts';
import type { RemoteAnswers } from './remoteAnswers.ts';
import { RemoteLane } from './remoteLane.ts';
import { RemoteTask } from './remoteTask.ts';

/** What one task sees of the rest. */
export interface TaskWorld {
  bus: Bus;
  store: Store;
  clock: Clock;
  log: Log;
  settings: Settings['a2a'];
  answers: RemoteAnswers;
  remote: Remote;
  lane: RemoteLane;
  /** The running task that this one goes on with. */
  leaderOf: (task: RemoteTask) => RemoteTask | undefined;
  /** Requests that go on with this one and end with it. */
  followersOf: (task: RemoteTask) => RemoteTask[];
  /** The agent has taken it. */
  began: (task: RemoteTask) => void;
  /** It is over. */
  forget: (task: RemoteTask) => void;
}

export interface TasksParts extends Pick<TaskWorld, 'bus' | 'store' | 'clock' | 'log' | 'settings' | 'answers'> {
  remoteOf: (agent: number) => Remote | undefined;
  isPaused: () => boolean;
}

/** A stranger is not given more to do at a time. */
const atWorkAtMost = 20;
const firstTryMs = 2_000;
const cancelMs = 2_000;
const pageSize = 500;

/** What is on its way to one agent. */
interface Errands {
  lane: RemoteLane;
  /** By message. */
  all: Map<number, RemoteTask>;
  /** Those that the agent has taken: few, since it is not given more. */
  taken: Set<RemoteTask>;
}

/** All that is on its way to agents elsewhere, or at work there. */
export class RemoteTasks {
  private readonly parts: TasksParts;
  private readonly errands = new Map<number, Errands>();
  private readonly unsubscribe: () => void;
  private paused: boolean;
  private closed = false;

  constructor(parts: TasksParts) {
    this.parts = parts;
    this.paused = parts.isPaused();
    this.unsubscribe = parts.bus.feed.subscribe((event) => this.hear(event));
  }

  /** Goes on with what another hub has left. */
  recover(remote: Remote): void {
    const { store } = this.parts;
    const agent = remote.agent.id;
    for (const record of store.remoteTasks()) {
      const message = record.agent === agent ? store.message(record.seq) : undefined;
      if (message) this.launch(remote, message, record, true);
    }
    // Of these it is not known how far the last hub got with them.
    for (let after = 0; ;) {
      const unread = store.inbox({ agent, phases: [DeliveryPhase.unread], after, limit: pageSize });
      for (const message of unread) {
        const known = store.remoteTasksOf(message.seq).some((record) => record.agent === agent);
        if (!known) this.take(remote, message, 'maybe-sent');
        after = message.seq;
      }
      if (unread.length < pageSize) return;
    }
  }

  async firstTry(message: MessageRecord, agent: number): Promise<void> {
    const task = this.find(message.seq, agent);
    if (!task || this.paused) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([task.tried, new Promise((resolve) => (timer = setTimeout(resolve, firstTryMs).unref()))]);
    clearTimeout(timer);
  }

  view(seq: number): RemoteTaskView | undefined {
    const stored = this.parts.store.remoteTasksOf(seq);
    const running = [...this.errands.values()].map(({ all }) => all.get(seq)?.record).find(Boolean);
    const record = running ?? stored[0];
    if (!record) return undefined;
    const trouble = record.unreachableSince === null ? undefined : this.parts.remoteOf(record.agent)?.trouble;
    const progress =
      trouble === undefined || record.stage === 'over' || record.unreachableSince === null
        ? record.progress
        : `not reached since ${isoTime(record.unreachableSince)}: ${trouble}`;
    return {
      state: record.state ?? waitingStates[record.stage],
      ...(progress && { progress }),
      updated_at: isoTime(record.updatedAt),
    };
  }

  /** Whether an agent elsewhere is at work for somebody here. */
  get isNeeded(): boolean {
    for (const { all } of this.errands.values()) for (const task of all.values()) if (!task.isResting) return true;
    return false;
  }

  /** The agent leaves: what it is at is cancelled there as far as that can be had quickly, and over here. */
  async giveUp(remote: Remote): Promise<void> {
    const { store, clock } = this.parts;
    const mine = [...this.errandsOf(remote).all.values()];
    for (const task of mine) task.close();
    const signal = AbortSignal.timeout(cancelMs);
    const ids = new Set(mine.flatMap(({ record }) => (record.stage === 'at-work' && record.task ? [record.task] : [])));
    await Promise.allSettled([...ids].map((id) => remote.client.cancel(id, signal)));
    for (const task of mine) task.record = { ...task.record, stage: 'over', updatedAt: clock.now() };
    await store.write((tx) => {
      for (const { record } of mine) tx.putRemoteTask(record);
    });
    this.errands.delete(remote.agent.id);
  }

  close(): void {
    this.closed = true;
    this.unsubscribe();
    for (const { all } of this.errands.values()) for (const task of all.values()) task.close();
  }

  private hear(event: BusEvent): void {
    if (this.closed) return;
    if (event.type === 'message') {
      for (const id of event.recipients) {
        const remote = this.parts.remoteOf(id);
        if (remote) this.take(remote, event.message, 'unsent');
      }
    } else if (event.type === 'receipt') {
      const { seq, agent, step, route } = event.receipt;
      const called = step === 'cancelled' || step === 'expired' || step === 'undeliverable';
      if (called && route !== 'a2a') this.find(seq, agent)?.interrupt();
    } else if (event.type === 'request') {
      for (const { taken } of this.errands.values()) {
        for (const task of taken) if (task.record.question === event.seq) task.resume();
      }
    } else if (event.type === 'paused') {
      this.paused = event.paused;
      for (const { lane } of this.errands.values()) lane.pause(event.paused);
    }
  }

  private take(remote: Remote, message: MessageRecord, stage: RemoteTaskRecord['stage']): void {
    const { bus, clock } = this.parts;
    const agent = remote.agent.id;
    // Two agents elsewhere that answer each other’s answers would never come to an end.
    if (this.parts.remoteOf(message.sender)) {
      const reason = 'what one agent elsewhere says is not passed on to another';
      bus.receipts.noteUndeliverable(agent, message, reason).catch((error: unknown) => this.failed(error));
      return;
    }
    if (this.paused) bus.receipts.noteHeld(agent, [message], 'paused by the person');
    const record: RemoteTaskRecord = {
      seq: message.seq,
      agent,
      conversation: message.conversation,
      stage,
      task: null,
      state: null,
      progress: null,
      question: null,
      updatedAt: clock.now(),
      unreachableSince: null,
    };
    this.launch(remote, message, record, false);
  }

  private launch(remote: Remote, message: MessageRecord, record: RemoteTaskRecord, isStored: boolean): void {
    const { bus, store, clock, log, settings, answers } = this.parts;
    const errands = this.errandsOf(remote);
    const { lane, all, taken } = errands;
    if (this.closed || all.has(message.seq)) return;
    const world: TaskWorld = {
      bus,
      store,
      clock,
      log,
      settings,
      answers,
      remote,
      lane,
      leaderOf: (task) => this.leaderOf(errands, task),
      followersOf: (task) => followersOf(errands, task),
      began: (task) => void taken.add(task),
      forget: (task) => {
        taken.delete(task);
        all.delete(task.message.seq);
      },
    };
    const task = new RemoteTask(world, message, record, isStored);
    all.set(message.seq, task);
    if (record.stage === 'at-work') {
      taken.add(task);
      if (!task.isResting) lane.resume(task);
    }
    task.run().catch((error: unknown) => this.failed(error));
  }

  /** By the message that it answers, or by the answer of the agent to that; once it is taken, by the agent’s own task. */
  private leaderOf({ all, taken }: Errands, { message, record }: RemoteTask): RemoteTask | undefined {
    if (record.stage === 'at-work') {
      return [...taken].find((other) => other.record.task === record.task && other.message.seq < message.seq);
    }
    if (message.replyTo === null) return undefined;
    const parent = this.parts.store.message(message.replyTo);
    const origin = parent?.sender === record.agent ? parent.replyTo : (parent?.seq ?? null);
    const leader = origin === null ? undefined : all.get(origin);
    return leader?.record.stage === 'at-work' && leader.record.task !== null ? leader : undefined;
  }

  private find(seq: number, agent: number): RemoteTask | undefined {
    return this.errands.get(agent)?.all.get(seq);
  }

  private errandsOf(remote: Remote): Errands {
    const agent = remote.agent.id;
    const known = this.errands.get(agent);
    if (known) return known;
    const lane = new RemoteLane(atWorkAtMost, this.paused, (count) => (remote.tasks = count));
    const errands: Errands = { lane, all: new Map(), taken: new Set() };
    this.errands.set(agent, errands);
    return errands;
  }

  private failed(error: unknown): void {
    if (!this.closed) this.parts.log.error('remote-tasks', { error: String(error) });
  }
}

function followersOf({ taken }: Errands, { message, record }: RemoteTask): RemoteTask[] {
  if (record.task === null) return [];
  return [...taken].filter(
    (other) => other.record.task === record.task && other.message.seq > message.seq && !other.isOver,
  );
}

/** Before the agent has said anything. */
const waitingStates: Record<RemoteTaskRecord['stage'], string> = {
  unsent: 'queued',
  'maybe-sent': 'sent',
  'at-work': 'submitted',
  over: 'over',
};
