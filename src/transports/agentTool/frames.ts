/** The frames of agent-tool's point-to-point protocol: a type (2 bytes), a length (4 bytes), that many bytes; big-endian. */
import { BusError } from '../../core/errors.ts';

export const FrameType = { ping: 0, pong: 1, message: 2 } as const;
export const maxPayload = 1_048_576;
export const defaultFramePort = 19_900;

const headerBytes = 6;
const nothing = Buffer.alloc(0);

/** Bytes that are reserved for a payload before more of it has come: an announced length alone costs nothing. */
const firstReserve = 16 * 1024;

export interface Frame {
  type: number;
  /** May be a view of what was pushed: use it before the next turn, or copy it. */
  payload: Buffer;
}

export function encodeFrame(type: number, payload: Uint8Array = nothing): Buffer {
  if (payload.length > maxPayload) throw tooLarge(payload.length);
  const frame = Buffer.allocUnsafe(headerBytes + payload.length);
  frame.writeUInt16BE(type, 0);
  frame.writeUInt32BE(payload.length, 2);
  frame.set(payload, headerBytes);
  return frame;
}

/**
 * Takes bytes as they come; `next` gives out one whole frame after the other. What it throws is final: where the next
 * frame begins is lost.
 */
export class FrameReader {
  private readonly chunks: Buffer[] = [];
  /** How much of the first chunk is used up. */
  private at = 0;
  private readonly header = Buffer.alloc(headerBytes);
  private headerFilled = 0;
  private length = 0;
  /** A payload of which a part has come. It grows by doubling, so that a dribbled one is copied about twice in all. */
  private body = nothing;
  private bodyFilled = 0;

  push(chunk: Buffer): void {
    if (chunk.length > 0) this.chunks.push(chunk);
  }

  /** A frame has begun and its end has not come. */
  get isMidFrame(): boolean {
    return this.headerFilled > 0;
  }

  next(): Frame | undefined {
    for (let chunk = this.chunks[0]; chunk; chunk = this.chunks[0]) {
      if (this.headerFilled < headerBytes) this.fillHeader(chunk);
      if (this.headerFilled === headerBytes) {
        if (this.length > maxPayload) throw tooLarge(this.length);
        const payload = this.fillBody(chunk);
        if (payload) {
          this.headerFilled = 0;
          this.drop(chunk);
          return { type: this.header.readUInt16BE(0), payload };
        }
      }
      this.drop(chunk);
    }
    return undefined;
  }

  private fillHeader(chunk: Buffer): void {
    const taken = chunk.copy(this.header, this.headerFilled, this.at, this.at + headerBytes - this.headerFilled);
    this.headerFilled += taken;
    this.at += taken;
    if (this.headerFilled === headerBytes) this.length = this.header.readUInt32BE(2);
  }

  /** The whole payload, or undefined while some of it is missing. */
  private fillBody(chunk: Buffer): Buffer | undefined {
    const missing = this.length - this.bodyFilled;
    const end = Math.min(chunk.length, this.at + missing);
    const part = chunk.subarray(this.at, end);
    this.at = end;
    if (this.bodyFilled === 0 && part.length === missing) return part;
    this.reserve(this.bodyFilled + part.length);
    part.copy(this.body, this.bodyFilled);
    this.bodyFilled += part.length;
    if (this.bodyFilled < this.length) return undefined;
    const payload = this.body.subarray(0, this.length);
    this.body = nothing;
    this.bodyFilled = 0;
    return payload;
  }

  private reserve(bytes: number): void {
    if (bytes <= this.body.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(this.length, Math.max(bytes, 2 * this.body.length, firstReserve)));
    this.body.copy(larger, 0, 0, this.bodyFilled);
    this.body = larger;
  }

  private drop(chunk: Buffer): void {
    if (this.at < chunk.length) return;
    this.chunks.shift();
    this.at = 0;
  }
}

function tooLarge(bytes: number): BusError {
  return new BusError('too-large', `A frame of ${bytes} bytes is over agent-tool’s limit of ${maxPayload}.`, {
    next: 'Send less at once, or put the content into a file and send its path.',
  });
}
