import type { Socket } from 'node:net';
import { BusError } from '../../core/errors.ts';
import type { BrokerHost, Handover } from './brokerHost.ts';
import { errorReply, fetchReply, queuedReply, statusReply, waitReply } from './brokerReply.ts';
import { parseRequest, RequestScanner, type BrokerRequest } from './brokerRequest.ts';

export interface BrokerTimings {
  /** For a request to be complete, and for a reply to be taken. */
  transferMs: number;
  /** For the peer to hang up after it was answered. */
  partingMs: number;
  /** How often a waiter that has shut its side is asked whether it is there. */
  probeMs: number;
}

export const defaultTimings: BrokerTimings = { transferMs: 30_000, partingMs: 5_000, probeMs: 2_000 };

/** Seconds: where none are given, and at most. */
const usualWait = 60;
const longestWait = 300;
/** Long enough for the reset of a peer that is gone. */
const momentMs = 20;

interface Answer {
  line: string;
  mail?: Handover;
}

/**
 * One connection: one request, one line, the end. Mail that was on the line has arrived when the peer hangs up in order
 * after it. A peer that died unread resets the connection instead; one that is late, or was gone before, gets it again.
 */
export class BrokerSession {
  private readonly socket: Socket;
  private readonly host: BrokerHost;
  private readonly timings: BrokerTimings;
  private readonly onError: (error: unknown) => void;
  private readonly scanner = new RequestScanner();
  private readonly waiting = new AbortController();
  private readonly closed: Promise<void>;
  private work: Promise<void> = Promise.resolve();
  private stage: 'request' | 'wait' | 'answer' = 'request';
  /** The peer has shut its side. It may be gone, or just have nothing more to say. */
  private halfClosed = false;
  private broken = false;
  private stopping = false;
  private timer: NodeJS.Timeout | undefined;
  private prober: NodeJS.Timeout | undefined;

  constructor(socket: Socket, parts: { host: BrokerHost; timings: BrokerTimings; onError: (error: unknown) => void }) {
    this.socket = socket;
    this.host = parts.host;
    this.timings = parts.timings;
    this.onError = parts.onError;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('end', () => this.peerEnded());
    socket.on('error', () => (this.broken = true));
    socket.on('close', () => this.gone());
    this.within(this.timings.transferMs, () => this.refuse(this.scanner.incomplete('the time was over')));
  }

  /** The connection is closed, and what was given out over it has arrived or is unread again. */
  async ended(): Promise<void> {
    await this.closed;
    await this.work;
  }

  /** Ends a wait; an answer that is under way may still finish. */
  stop(): void {
    this.stopping = true;
    if (this.stage === 'request') this.destroy();
    this.waiting.abort();
  }

  /** Hangs up; whatever was on its way has not arrived. */
  destroy(): void {
    this.broken = true;
    clearTimeout(this.timer);
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    // Whatever follows the request is read, so that closing does not reset the connection, and dropped.
    if (this.stage !== 'request') return;
    try {
      const bytes = this.scanner.push(chunk);
      if (bytes) this.serve(parseRequest(bytes));
    } catch (error) {
      this.refuse(error);
    }
  }

  private serve(request: BrokerRequest): void {
    clearTimeout(this.timer);
    this.stage = request.op === 'wait' ? 'wait' : 'answer';
    this.work = this.answer(request)
      .catch((error: unknown): Answer => this.failure(error))
      .then((answer) => this.reply(answer))
      .catch(this.onError);
  }

  private refuse(error: unknown): void {
    if (this.stage !== 'request') return;
    this.stage = 'answer';
    this.work = this.reply(this.failure(error));
  }

  private async answer(request: BrokerRequest): Promise<Answer> {
    const { op, to, from, msg, mailbox } = request;
    switch (op) {
      case 'status':
        return { line: statusReply(this.host.status()) };
      case 'post':
        if (to === '') throw required('to', 'name the mailbox that the message is for');
        if (msg === '') throw required('msg', 'give the text of the message');
        await this.host.post(from, to, msg);
        return { line: queuedReply };
      case 'fetch': {
        if (mailbox === '') throw required('mailbox', 'name your mailbox');
        const mail = await this.host.fetch(mailbox);
        return { line: fetchReply(mail.letters), mail };
      }
      case 'wait':
        if (mailbox === '') throw required('mailbox', 'name your mailbox');
        return this.waitFor(mailbox, request.timeout > 0 ? Math.min(request.timeout, longestWait) : usualWait);
      default:
        throw new BusError('invalid-input', `unknown op ${JSON.stringify(op.slice(0, 60))}`, {
          next: 'use: post, fetch, wait, status',
        });
    }
  }

  private async waitFor(mailbox: string, seconds: number): Promise<Answer> {
    const mail = await this.host.wait(mailbox, seconds, this.waiting.signal);
    if (mail?.letters[0] !== undefined) return { line: waitReply(mail.letters[0]), mail };
    throw new BusError(
      'cancelled',
      `wait timed out after ${seconds}s -- no message in mailbox ${JSON.stringify(mailbox)}`,
      { next: 'wait again, or fetch later' },
    );
  }

  private failure(error: unknown): Answer {
    if (!(error instanceof BusError)) this.onError(error);
    if (this.stopping && error instanceof BusError && error.code === 'cancelled') {
      const next = 'nothing was lost; ask the person to switch it on again, or start a broker of your own';
      return {
        line: errorReply(new BusError('hub-stopping', 'the broker was switched off while you waited', { next })),
      };
    }
    return { line: errorReply(error) };
  }

  private async reply({ line, mail }: Answer): Promise<void> {
    this.stage = 'answer';
    clearInterval(this.prober);
    this.within(this.timings.transferMs, () => this.destroy());
    const taken = mail?.letters.length ? await this.handOver(line, mail) : await this.write(`${line}\n`);
    if (taken) {
      this.within(this.timings.partingMs, () => this.destroy());
      this.socket.end();
      await this.closed;
    } else {
      this.destroy();
    }
    if (this.broken) mail?.lost();
    else mail?.arrived();
  }

  /**
   * The newline goes out on its own, a moment later. A peer that had hung up before the line came has answered it with
   * a reset by then, and the second write fails; there is no other way to tell it from one that only shut its side.
   */
  private async handOver(line: string, mail: Handover): Promise<boolean> {
    if (!(await this.write(line))) return false;
    mail.written();
    // Two turns of the loop: what the system knew of the peer before the first write has been heard by then.
    await turn();
    await turn();
    if (this.halfClosed) await new Promise((resolve) => setTimeout(resolve, momentMs));
    return this.write('\n');
  }

  /** False if the connection did not take it. */
  private write(text: string): Promise<boolean> {
    if (this.broken || this.socket.destroyed) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.socket.write(text, (error) => resolve(!error && !this.broken));
    });
  }

  private peerEnded(): void {
    this.halfClosed = true;
    if (this.stage === 'request') this.refuse(this.scanner.incomplete('the connection ended'));
    else if (this.stage === 'wait') this.probe();
  }

  /**
   * A waiter that was killed and one that shut its side to say "that was all" look the same. Only data brings the
   * difference to light: a blank before the reply, which is nothing in JSON. The second one fails if nobody is there.
   */
  private probe(): void {
    const ask = (): void => void (this.stage === 'wait' && this.socket.write(' '));
    ask();
    setTimeout(ask, momentMs);
    this.prober = setInterval(ask, this.timings.probeMs);
  }

  private gone(): void {
    clearTimeout(this.timer);
    clearInterval(this.prober);
    // Nobody is left to be told.
    if (this.stage === 'request') this.stage = 'answer';
    this.waiting.abort();
  }

  private within(ms: number, otherwise: () => void): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(otherwise, ms);
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function required(what: string, next: string): BusError {
  return new BusError('invalid-input', `${what} is required`, { next });
}
