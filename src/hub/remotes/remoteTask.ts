import { setTimeout as pause } from 'node:timers/promises';
import { cleanLine } from '../../core/envelope.ts';
import type { MessageRecord, RemoteTaskRecord } from '../../core/model.ts';
import { messageId } from '../../core/model.ts';
import type { Writes } from '../../core/ports.ts';
import { holds, type Letter, type RemoteEvent } from '../../transports/a2a/remoteClient.ts';
import { statusText } from '../../transports/a2a/remoteParts.ts';
import { RemotePicture } from '../../transports/a2a/remotePicture.ts';
import { RemoteTrouble } from '../../transports/a2a/remoteTrouble.ts';
import { stateOf, type RemoteEnd } from './remoteAnswers.ts';
import { RemoteSetbacks } from './remoteSetbacks.ts';
import { callOff, isCalledOff } from './remoteCancel.ts';
import type { TaskWorld } from './remoteTasks.ts';
import { patience } from './patience.ts';

/** A message of a known conversation does not wait longer than this for the one before it to be taken. */
const turnMs = 2_000;
const progressLength = 300;
const progressEveryMs = 200;

/**
 * A message on its way to an agent elsewhere, from its turn to its end. The record on disk always says so much that
 * another hub can go on: a message without one, or with `maybe-sent`, may have been sent; it is `over` only when the
 * answer is on disk, too.
 */
export class RemoteTask {
  readonly message: MessageRecord;
  readonly world: TaskWorld;
  record: RemoteTaskRecord;
  /** The first try has ended, well or not. */
  readonly tried: Promise<void>;
  hasTried: () => void = () => undefined;
  private readonly setbacks = new RemoteSetbacks(this);
  private readonly ending = new AbortController();
  private turn = new AbortController();
  private goOn: () => void = () => undefined;
  private readonly picture = new RemotePicture();
  private polls = 0;
  private isStored: boolean;
  private streamless = false;
  private progressAt = 0;

  constructor(world: TaskWorld, message: MessageRecord, record: RemoteTaskRecord, isStored: boolean) {
    this.world = world;
    this.isStored = isStored;
    this.message = message;
    this.record = record;
    this.tried = new Promise((resolve) => (this.hasTried = resolve));
  }

  get isOver(): boolean {
    return this.record.stage === 'over';
  }

  /** Waits for whoever was asked back. */
  get isResting(): boolean {
    const { question } = this.record;
    return question !== null && this.world.store.request(question)?.state === 'pending';
  }

  private get isAnswered(): boolean {
    const step = this.world.store.delivery(this.message.seq, this.record.agent)?.step;
    return step === 'replied' || step === 'acked';
  }

  /** The same for every try, and for no other message of any bus. */
  get letterId(): string {
    return `${this.world.store.epoch()}-${messageId.format(this.message.seq)}`;
  }

  async run(): Promise<void> {
    while (!this.isOver && !this.ending.signal.aborted) {
      if (this.turn.signal.aborted) this.turn = new AbortController();
      const signal = AbortSignal.any([this.turn.signal, this.ending.signal]);
      try {
        await this.step(signal);
      } catch (error) {
        if (signal.aborted) continue;
        await this.setbacks.meet(error, signal);
      }
    }
  }

  /** Something has changed here that is worth leaving whatever it is doing. */
  interrupt(): void {
    this.turn.abort(new Error('interrupted'));
  }

  /** The question may be answered. */
  resume(): void {
    this.goOn();
  }

  close(): void {
    this.ending.abort(new Error('the hub is stopping'));
    this.hasTried();
  }

  /** Something about its task, told in answer to another message that goes on with it. */
  async hear(event: RemoteEvent, signal: AbortSignal): Promise<void> {
    if (this.isOver) return;
    try {
      this.picture.take(event);
      await this.look(signal);
    } finally {
      this.resume();
    }
  }

  async put(patch: Partial<RemoteTaskRecord>): Promise<void> {
    const record = { ...this.record, ...patch, updatedAt: this.world.clock.now() };
    await this.world.store.write((tx) => tx.putRemoteTask(record));
    this.record = record;
    this.isStored = true;
  }

  /** Its end is known: says it to whoever waits for it. */
  async settle(end: RemoteEnd, signal: AbortSignal): Promise<void> {
    const { answers, remote } = this.world;
    const record = this.recordOver(stateOf(end));
    const speaker = { agent: record.agent, clean: remote.clean };
    await answers.give(this.message, speaker, end, (tx) => tx.putRemoteTask(record), signal);
    for (const follower of this.world.followersOf(this)) await follower.settle(end, signal);
    if (!this.isOver) this.leave(record);
  }

  /** Nothing more is to be done. If this is lost in a crash, the next hub comes to the same end. */
  end(state = this.record.state): void {
    const record = this.recordOver(state);
    this.world.store.later((tx) => tx.putRemoteTask(record));
    this.leave(record);
  }

  private recordOver(state: string | null): RemoteTaskRecord {
    return { ...this.record, stage: 'over', state, question: null, updatedAt: this.world.clock.now() };
  }

  private leave(record: RemoteTaskRecord): void {
    const { world } = this;
    this.record = record;
    world.lane.leave(this);
    // Those that went on with it look for themselves now.
    for (const follower of world.followersOf(this)) follower.resume();
    world.forget(this);
    this.hasTried();
    this.resume();
  }

  private async step(signal: AbortSignal): Promise<void> {
    if (isCalledOff(this)) return callOff(this, signal);
    // The last hub ended between the answer and the note that it was given.
    if (this.isAnswered) return this.end();
    const leader = this.world.leaderOf(this);
    switch (this.record.stage) {
      case 'unsent':
        return this.dispatch(leader, signal);
      case 'maybe-sent':
        return this.trace(leader, signal);
      case 'at-work':
        if (leader || this.isResting) return this.rest(signal);
        return this.follow(signal);
      case 'over':
    }
  }

  private async dispatch(leader: RemoteTask | undefined, signal: AbortSignal): Promise<void> {
    const { lane, remote } = this.world;
    await lane.enter(this, this.message.conversation, signal, leader !== undefined);
    await this.noteSending();
    const letter = this.letter(leader);
    const turn = setTimeout(() => letter.context !== undefined && lane.sent(this), turnMs).unref();
    const taken = (): void => this.world.bus.receipts.noteOffered(this.record.agent, [this.message], 'a2a');
    const stream = patience(signal, this.world.settings.pollAtMostSeconds * 4_000);
    try {
      for await (const event of remote.client.send(letter, stream.signal, taken)) {
        if (this.isOver) continue;
        stream.heard();
        remote.worked();
        if (leader) return await this.handOver(leader, event, signal);
        this.picture.take(event);
        await this.look(signal);
        if (this.isOver) stream.finish();
        else if (this.isResting) return;
      }
    } catch (error) {
      if (this.isOver) return;
      // A stream that broke or fell silent tells nothing about the task: it is asked about.
      const broke = error instanceof RemoteTrouble || stream.signal.aborted;
      if (signal.aborted) throw error;
      if (this.record.stage !== 'at-work' || !broke) throw await this.setbacks.ofSending(error);
    } finally {
      clearTimeout(turn);
      stream.end();
    }
    if (this.record.stage === 'maybe-sent')
      throw new RemoteTrouble('refused', 'it took the message and said nothing of it');
  }

  /**
   * From here on the agent may have it. A message of which nothing is stored counts as maybe sent anyway, so that the first
   * try needs no wait for the disk; the note goes before all that is noted of it later.
   */
  private async noteSending(): Promise<void> {
    if (this.isStored) return this.put({ stage: 'maybe-sent' });
    this.record = { ...this.record, stage: 'maybe-sent', updatedAt: this.world.clock.now() };
    this.world.store.later((tx) => tx.putRemoteTask(this.record));
    this.isStored = true;
  }

  private letter(leader: RemoteTask | undefined): Letter {
    const { store, bus } = this.world;
    const { conversation, sender } = this.message;
    const context = store.remoteContext(conversation, this.record.agent);
    const from = bus.roster.get(sender).name;
    return { message: this.message, id: this.letterId, context, task: leader?.record.task ?? undefined, from };
  }

  /** It is not known whether the agent has it: whoever was at it before has died. */
  private async trace(leader: RemoteTask | undefined, signal: AbortSignal): Promise<void> {
    const { lane, remote, store } = this.world;
    await lane.enter(this, this.message.conversation, signal, leader !== undefined);
    if (leader) {
      const task = await remote.client.get(leader.record.task ?? '', signal, 50);
      if (holds(task, this.letterId)) return this.handOver(leader, { $case: 'task', value: task }, signal);
    } else {
      const context = store.remoteContext(this.message.conversation, this.record.agent);
      const task = await remote.client.find(this.letterId, context, signal).catch((error: unknown) => {
        // Most agents can't look: then it is sent again, and told apart by its id.
        if (error instanceof RemoteTrouble && (error.kind === 'unsupported' || error.kind === 'refused'))
          return undefined;
        throw error;
      });
      if (task) {
        await this.accept(task.id, task.contextId);
        return;
      }
    }
    await this.put({ stage: 'unsent' });
  }

  /** The agent has taken it into a task that another message began: what is told of it is told there. */
  private async handOver(leader: RemoteTask, event: RemoteEvent, signal: AbortSignal): Promise<void> {
    const { bus } = this.world;
    bus.receipts.noteShown(this.record.agent, [this.message.seq], 'a2a');
    if (event.$case === 'message') return this.settle({ message: event.value }, signal);
    if (this.message.kind === 'request') {
      await this.put({ stage: 'at-work', task: leader.record.task });
      this.world.began(this);
    } else this.end();
    this.hasTried();
    await leader.hear(event, signal);
  }

  /** Looks at what is known by now, and does what follows from it. */
  private async look(signal: AbortSignal): Promise<void> {
    const { picture } = this;
    const { message, task } = picture;
    if (message) {
      this.world.bus.receipts.noteShown(this.record.agent, [this.message.seq], 'a2a');
      if (picture.context !== undefined) this.keepContext(picture.context);
      return this.settle({ message }, signal);
    }
    if (!task) return;
    const ended = picture.standing === 'ended';
    if (this.record.stage !== 'at-work') await this.accept(task.id, picture.context, ended);
    if (ended) return this.settle({ task }, signal);
    if (picture.standing === 'asking') await this.ask(signal);
    else this.noteProgress();
    this.hasTried();
  }

  private async accept(task: string, context: string | undefined, ended = false): Promise<void> {
    const { bus, store, lane, clock } = this.world;
    bus.receipts.noteShown(this.record.agent, [this.message.seq], 'a2a');
    const known = store.remoteContext(this.message.conversation, this.record.agent);
    const record = { ...this.record, stage: 'at-work' as const, task, unreachableSince: null, updatedAt: clock.now() };
    const work = (tx: Writes): void => {
      tx.putRemoteTask(record);
      if (context && context !== known) tx.putRemoteContext(record.conversation, record.agent, context);
    };
    // The answer that follows takes the note along in its own transaction, and then the next message may go.
    if (ended) store.later(work);
    else await store.write(work);
    this.record = record;
    this.world.began(this);
    if (!ended) lane.sent(this);
  }

  private keepContext(context: string): void {
    const { conversation, agent } = this.record;
    this.world.store.later((tx) => tx.putRemoteContext(conversation, agent, context));
  }

  private async ask(signal: AbortSignal): Promise<void> {
    const { answers, remote, lane } = this.world;
    const { task } = this.picture;
    if (!task) return;
    const speaker = { agent: this.record.agent, clean: remote.clean };
    const question = await answers.ask(this.message, speaker, task, signal);
    if (question === undefined || question === this.record.question) return;
    await this.put({ question, state: this.picture.state, progress: null });
    // While it waits for somebody here, it burdens nobody there.
    lane.leave(this);
  }

  private noteProgress(): void {
    const { bus, store, clock, remote, lane } = this.world;
    const { task, state } = this.picture;
    const said = task ? cleanLine(remote.clean(statusText(task)), progressLength) : '';
    const progress = said || this.record.progress;
    const wentOn = state !== this.record.state || this.record.question !== null;
    if (!wentOn && progress === this.record.progress) return;
    if (this.record.question !== null) lane.resume(this);
    this.polls = 0;
    const now = clock.now();
    this.record = { ...this.record, state, progress, question: null, updatedAt: now };
    const told = bus.couriers.task(this.message.seq);
    if (told) bus.feed.publish({ type: 'task', seq: this.message.seq, task: told });
    // For who looks now it is in memory; the disk has it now and then.
    if (!wentOn && now - this.progressAt < progressEveryMs) return;
    this.progressAt = now;
    store.later((tx) => tx.putRemoteTask(this.record));
  }

  private async rest(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.goOn = () => {
        signal.removeEventListener('abort', this.goOn);
        resolve();
      };
      signal.addEventListener('abort', this.goOn);
    });
  }

  /** Asks how the task stands, then listens where the agent can tell by itself; else asks again later. */
  private async follow(signal: AbortSignal): Promise<void> {
    const { remote, settings } = this.world;
    const id = this.record.task ?? '';
    const task = await remote.client.get(id, signal);
    remote.worked();
    this.setbacks.none();
    if (this.record.unreachableSince !== null) await this.put({ unreachableSince: null });
    this.picture.take({ $case: 'task', value: task });
    await this.look(signal);
    if (this.isOver || this.isResting) return;
    if (remote.client.card.streaming && !this.streamless && this.picture.standing === 'going') {
      await this.listen(id, signal);
      if (this.isOver || this.isResting) return;
    }
    const seconds = Math.min(settings.pollSeconds * 1.5 ** Math.min(this.polls++, 50), settings.pollAtMostSeconds);
    await pause(seconds * 1000, undefined, { signal, ref: false });
  }

  private async listen(id: string, signal: AbortSignal): Promise<void> {
    const { remote } = this.world;
    const stream = patience(signal, this.world.settings.pollAtMostSeconds * 4_000);
    stream.heard();
    try {
      for await (const event of remote.client.follow(id, stream.signal)) {
        if (this.isOver) continue;
        stream.heard();
        remote.worked();
        this.picture.take(event);
        await this.look(signal);
        if (this.isOver) stream.finish();
        else if (this.isResting) return;
      }
    } catch (error) {
      if (this.isOver) return;
      if (signal.aborted) throw error;
      if (error instanceof RemoteTrouble && error.kind === 'unsupported') this.streamless = true;
    } finally {
      stream.end();
    }
  }
}
