import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { BusError } from '../../core/errors.ts';
import { encodeFrame, FrameReader, FrameType, type Frame } from './frames.ts';

export interface FramePeer {
  address: string;
  port: number;
}

/** What stands behind the door. */
export interface FrameHost {
  /** Whether that address may speak at all. */
  admits(address: string): boolean;
  refused(address: string): void;
  /** Resolves when the message is on disk. */
  deliver(peer: FramePeer, text: string): Promise<void>;
  /** Why a connection was cut, or the door itself has failed. */
  failed(peer: FramePeer, error: unknown): void;
}

const pong = encodeFrame(FrameType.pong);

/**
 * One peer. It is read only as fast as its messages get to the disk, one after the other, and its PONGs get away. The
 * protocol has no "no": a message that can't be stored resets the connection, which is all that a sender can notice, and
 * nothing that came after that message is stored.
 */
export class FrameConnection {
  private readonly socket: Socket;
  private readonly peer: FramePeer;
  private readonly host: FrameHost;
  private readonly reader = new FrameReader();
  /** A message is on its way to the disk. */
  private storing = false;
  /** PONGs wait to be taken by the peer. */
  private blocked = false;
  /** The peer sends no more. */
  private ended = false;
  /** No more of what it has sent is wanted. */
  private over = false;
  private heardAt = performance.now();
  private frameSince = 0;
  private whenStored: () => void = () => undefined;
  private readonly onGone: () => void;

  constructor(socket: Socket, peer: FramePeer, host: FrameHost, onGone: () => void) {
    this.socket = socket;
    this.peer = peer;
    this.host = host;
    this.onGone = onGone;
    socket.on('data', (chunk) => this.take(chunk));
    socket.on('end', () => {
      this.ended = true;
      this.pump();
    });
    socket.on('drain', () => {
      this.blocked = false;
      this.pump();
    });
    // A peer that vanishes is nobody's fault; what has come from it is stored all the same.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.blocked = false;
      this.pump();
    });
    socket.resume();
  }

  /** Called now and then. */
  endIfStuck(idleMs: number, frameMs: number): void {
    const now = performance.now();
    const isSlow = this.reader.isMidFrame && !this.isHeld && now - this.frameSince > frameMs;
    if (isSlow || (!this.storing && now - this.heardAt > idleMs)) this.hangUp();
  }

  /** Takes nothing more, waits for what is being stored, hangs up. */
  async close(atMostMs: number): Promise<void> {
    this.over = true;
    this.socket.pause();
    if (this.storing) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.whenStored = resolve;
        timer = setTimeout(resolve, atMostMs);
      });
      clearTimeout(timer);
    }
    this.hangUp();
  }

  /** Nothing more is taken from it just now. */
  private get isHeld(): boolean {
    return this.blocked || this.storing;
  }

  private take(chunk: Buffer): void {
    // The list of peers may have changed since it came.
    if (!this.host.admits(this.peer.address)) {
      this.hangUp();
      return this.host.refused(this.peer.address);
    }
    this.heardAt = performance.now();
    if (!this.reader.isMidFrame) this.frameSince = this.heardAt;
    this.reader.push(chunk);
    this.pump();
  }

  /** Works on what has come, as far as there is room for it. */
  private pump(): void {
    let pongs = 0;
    try {
      for (let frame = this.nextFrame(); frame; frame = this.nextFrame()) {
        this.frameSince = this.heardAt;
        if (frame.type === FrameType.ping) pongs++;
        else if (frame.type === FrameType.message) this.deliver(frame);
      }
    } catch (error) {
      this.cut(error);
    }
    if (this.socket.destroyed) return this.leave();
    if (pongs > 0 && !this.socket.write(pongs === 1 ? pong : Buffer.alloc(pongs * pong.length, pong))) {
      this.blocked = true;
    }
    if (this.isHeld) this.socket.pause();
    else if (this.ended) this.socket.end();
    else this.listen();
  }

  private leave(): void {
    if (!this.storing) this.onGone();
  }

  private listen(): void {
    if (this.over || !this.socket.isPaused()) return;
    // While nobody read from it, the peer could not go on with its frame.
    this.frameSince = performance.now();
    this.socket.resume();
  }

  private nextFrame(): Frame | undefined {
    return this.isHeld || this.over ? undefined : this.reader.next();
  }

  private deliver({ payload }: Frame): void {
    if (payload.length === 0) return;
    if (!isUtf8(payload)) {
      throw new BusError('invalid-input', 'A message is not valid UTF-8.', { next: 'Send UTF-8 text.' });
    }
    this.storing = true;
    this.host
      .deliver(this.peer, payload.toString('utf8'))
      .catch((error: unknown) => this.cut(error))
      .finally(() => {
        this.storing = false;
        this.whenStored();
        this.pump();
      });
  }

  private cut(error: unknown): void {
    this.over = true;
    this.socket.resetAndDestroy();
    this.host.failed(this.peer, error);
  }

  private hangUp(): void {
    this.over = true;
    this.socket.destroy();
  }
}
