import type { Message, Task } from '@a2a-js/sdk';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '../../core/bus.ts';
import { BusError, type ErrorCode } from '../../core/errors.ts';
import { firstLine } from '../../core/text.ts';
import type { Caller, MessageRecord } from '../../core/model.ts';
import { messageId } from '../../core/model.ts';
import type { Store, Writes } from '../../core/ports.ts';
import type { SendInput } from '../../core/sending.ts';
import { noText, speechOfMessage, speechOfTask, statusText, type Speech } from '../../transports/a2a/remoteParts.ts';
import { stateName } from '../../transports/a2a/remotePicture.ts';
import type { Log } from '../log.ts';
import type { ArtifactFolder, Fitting } from './artifactFolder.ts';

/** Whose words they are, and how to take out of them what must not be told. */
export interface Speaker {
  agent: number;
  clean: (text: string) => string;
}

/** How a message to an agent elsewhere ended. */
export type RemoteEnd = { task: Task } | { message: Message } | { failure: string };

/** What may pass: then it is tried again, since the answer is nowhere else. */
const passing: readonly ErrorCode[] = ['rate-limited', 'mailbox-full', 'disk-full', 'disk-failed', 'internal'];

/**
 * Says on the bus what agents elsewhere said, in their names. Each saying has a key: however often it is said again after a
 * crash, it is one message.
 */
export class RemoteAnswers {
  private readonly bus: Bus;
  private readonly store: Store;
  private readonly folder: ArtifactFolder;
  private readonly log: Log;

  constructor(parts: { bus: Bus; store: Store; folder: ArtifactFolder; log: Log }) {
    this.bus = parts.bus;
    this.store = parts.store;
    this.folder = parts.folder;
    this.log = parts.log;
  }

  /**
   * Resolves when the answer is on disk, or it is certain that it can't be; `over` then is, too. Where all goes well, both
   * are in one transaction.
   */
  async give(
    request: MessageRecord,
    speaker: Speaker,
    end: RemoteEnd,
    over: (tx: Writes) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { agent, clean } = speaker;
    const key = `a2a ${request.seq} ${agent} answer`;
    const failure = failureOf(end, clean);
    if (!this.store.messageByKey(agent, key)) {
      // Where others may still answer, one that fails has only declined.
      if (failure !== undefined && request.kind === 'request' && this.store.recipients(request.seq).length > 1) {
        await this.bus.receipts.ack(this.caller(agent), [messageId.format(request.seq)], 'rejected', failure);
      } else {
        const said = this.fit(request.seq, key, end, clean);
        if (failure !== undefined && said.text === noText) said.text = failure;
        const saying = this.say(request, agent, { ...said, kind: 'reply', key, failure }, signal);
        const noted = this.store.write((tx) => tx.messageByKey(agent, key) !== undefined && (over(tx), true));
        const [, done] = await Promise.all([saying, noted]);
        if (done) return;
      }
    }
    await this.store.write(over);
  }

  /** The agent asks back. The order number of its question, or undefined if nobody can be asked. */
  async ask(request: MessageRecord, speaker: Speaker, task: Task, signal: AbortSignal): Promise<number | undefined> {
    const { agent, clean } = speaker;
    const status = task.status;
    const mark = status?.message?.messageId || status?.timestamp || statusText(task).slice(0, 100);
    const key = `a2a ${request.seq} ${agent} asks ${mark}`.slice(0, 200);
    const known = this.store.messageByKey(agent, key);
    if (known) return known.seq;
    const said = this.fit(request.seq, key, { task }, clean);
    if (status && stateName(status.state) === 'auth-required') said.text = `It is to be authorised first: ${said.text}`;
    const sent = await this.say(request, agent, { ...said, kind: 'request', key }, signal);
    return sent === undefined ? undefined : messageId.parse(sent);
  }

  private fit(seq: number, key: string, end: RemoteEnd, clean: Speaker['clean']): Fitting {
    if ('failure' in end) return { text: end.failure, data: undefined, files: [] };
    return this.folder.fit(seq, key, (keep) => {
      const { text, a2a } = 'task' in end ? speechOfTask(end.task, keep) : speechOfMessage(end.message, keep);
      const json = JSON.stringify(a2a);
      const safe = clean(json);
      return { text: clean(text), a2a: safe === json ? a2a : (JSON.parse(safe) as Speech['a2a']) };
    });
  }

  private async say(
    request: MessageRecord,
    agent: number,
    input: SendInput,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const replyTo = messageId.format(request.seq);
    for (let wait = 1_000; ; wait = Math.min(wait * 2, 60_000)) {
      try {
        return (await this.bus.send(this.caller(agent), { ...input, replyTo }, 0, { signal })).id;
      } catch (error) {
        const code = error instanceof BusError ? error.code : 'internal';
        this.log.warn('remote-answer', { message: replyTo, code, error: String(error) });
        if (!passing.includes(code)) {
          await this.bus.receipts.noteUndeliverable(agent, request, `its answer can’t be passed on: ${String(error)}`);
          return undefined;
        }
        await pause(wait, undefined, { signal, ref: false });
      }
    }
  }

  private caller(agent: number): Caller {
    return { agent, via: 'a2a' };
  }
}

/** The state in which the task of it ended, as far as there was one. */
export function stateOf(end: RemoteEnd): string {
  if ('failure' in end) return 'failed';
  return 'task' in end && end.task.status ? stateName(end.task.status.state) : 'completed';
}

/** Why it came to nothing; undefined if it did not. */
function failureOf(end: RemoteEnd, clean: Speaker['clean']): string | undefined {
  if ('failure' in end) return end.failure;
  const state = stateOf(end);
  if ('message' in end || state === 'completed') return undefined;
  return clean(`${state}: ${firstLine(statusText(end.task), 500) || 'the agent gave no reason'}`);
}
