/** The framing of the Language Server Protocol: `Content-Length: N`, an empty line, N bytes of UTF-8 JSON. */
import { isUtf8 } from 'node:buffer';
import { BusError } from '../core/errors.ts';

export const defaultMaxFrame = 32 * 1024 * 1024;
const defaultMaxHeader = 4 * 1024;

const usualHeader = Buffer.from('Content-Length: ', 'latin1');
const endOfHeader = Buffer.from('\r\n\r\n', 'latin1');
const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const zero = 0x30;
const nine = 0x39;

/** Bytes of body that are reserved before any have come: an announced length alone costs nothing. */
const firstReserve = 64 * 1024;

export function encodeFrame(json: string): string {
  return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

export interface FrameDecoderOptions {
  /** Bytes in one payload. */
  maxFrame?: number;
  /** Bytes in the header lines before it. */
  maxHeader?: number;
}

/**
 * Takes bytes as they come and calls `onPayload` for each complete payload, before `push` returns.
 * Whatever it throws, a BusError of its own or an error of `onPayload`, is final: where the next frame starts is lost.
 */
export class FrameDecoder {
  private readonly onPayload: (text: string) => void;
  private readonly maxFrame: number;
  private readonly maxHeader: number;
  private dead = false;
  /** Start of a header whose end has not come yet. */
  private header: Buffer | undefined;
  /** Body that has not come completely; it grows by doubling, so a dribbled frame is copied about twice in all. */
  private body: Buffer | undefined;
  private bodyFilled = 0;
  private bodyLength = 0;
  /** Set by the header readers: where the body starts. */
  private bodyStart = 0;

  constructor(onPayload: (text: string) => void, options: FrameDecoderOptions = {}) {
    this.onPayload = onPayload;
    this.maxFrame = options.maxFrame ?? defaultMaxFrame;
    this.maxHeader = options.maxHeader ?? defaultMaxHeader;
  }

  push(chunk: Buffer): void {
    if (this.dead) throw malformed('This connection already broke the framing.');
    this.dead = true;
    let rest = chunk;
    let at = 0;
    if (this.body !== undefined) {
      at = this.fillBody(chunk);
    } else if (this.header !== undefined) {
      rest = Buffer.concat([this.header, chunk]);
      this.header = undefined;
    }
    while (at < rest.length) {
      const length = this.readHeader(rest, at);
      if (length < 0) {
        // A copy, so that three bytes do not hold on to a whole read.
        this.header = Buffer.from(rest.subarray(at));
        break;
      }
      if (length > this.maxFrame) {
        throw new BusError('too-large', `A message of ${length} bytes is over the limit of ${this.maxFrame}.`, {
          next: 'Send less at once; put large content in a file and send its path.',
        });
      }
      at = this.bodyStart;
      const end = at + length;
      if (end > rest.length) {
        this.startBody(rest, at, length);
        break;
      }
      this.emit(rest, at, end);
      at = end;
    }
    this.dead = false;
  }

  private emit(bytes: Buffer, start: number, end: number): void {
    const text = bytes.toString('utf8', start, end);
    // Broken UTF-8 decodes to U+FFFD; only when one is there is it worth asking whether it was sent as such.
    if (text.includes('\uFFFD') && !isUtf8(bytes.subarray(start, end)))
      throw malformed('A message is not valid UTF-8.');
    this.onPayload(text);
  }

  private startBody(bytes: Buffer, start: number, length: number): void {
    const have = bytes.length - start;
    this.body = Buffer.allocUnsafeSlow(Math.min(length, Math.max(firstReserve, 2 * have)));
    bytes.copy(this.body, 0, start);
    this.bodyFilled = have;
    this.bodyLength = length;
  }

  /** Returns how many bytes of the chunk belonged to the body. */
  private fillBody(chunk: Buffer): number {
    let body = this.body as Buffer;
    const take = Math.min(chunk.length, this.bodyLength - this.bodyFilled);
    const filled = this.bodyFilled + take;
    if (filled > body.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(this.bodyLength, Math.max(filled, 2 * body.length)));
      body.copy(larger, 0, 0, this.bodyFilled);
      this.body = body = larger;
    }
    chunk.copy(body, this.bodyFilled, 0, take);
    this.bodyFilled = filled;
    if (filled === this.bodyLength) {
      this.body = undefined;
      this.emit(body, 0, filled);
    }
    return take;
  }

  /** The length of the body, or -1 while the header is incomplete. */
  private readHeader(bytes: Buffer, start: number): number {
    const length = this.readUsualHeader(bytes, start);
    return length >= 0 ? length : this.readAnyHeader(bytes, start);
  }

  /** Nearly every frame has this one header, written this way; -1 for anything else. */
  private readUsualHeader(bytes: Buffer, start: number): number {
    let at = start;
    for (let i = 0; i < usualHeader.length; i++, at++) if (bytes[at] !== usualHeader[i]) return -1;
    const digits = at;
    let length = 0;
    for (let digit = bytes[at]; digit !== undefined && digit >= zero && digit <= nine; digit = bytes[++at]) {
      length = length * 10 + digit - zero;
    }
    if (at === digits || at - digits > 15) return -1;
    for (let i = 0; i < endOfHeader.length; i++, at++) if (bytes[at] !== endOfHeader[i]) return -1;
    this.bodyStart = at;
    return length;
  }

  private readAnyHeader(bytes: Buffer, start: number): number {
    const window = bytes.subarray(start, start + this.maxHeader + endOfHeader.length);
    if (!plausible(window)) throw malformed('A message does not start with a header line.');
    const end = window.indexOf(endOfHeader);
    if (end < 0) {
      if (window.length >= this.maxHeader + endOfHeader.length)
        throw malformed('The header of a message does not end.');
      return -1;
    }
    let length = -1;
    for (const line of window.toString('latin1', 0, end).split('\r\n')) {
      const colon = line.indexOf(':');
      if (colon < 1) throw malformed('A header line has no name.');
      if (line.slice(0, colon).toLowerCase() !== 'content-length') continue;
      const value = line.slice(colon + 1).trim();
      if (length >= 0 || !/^\d{1,15}$/.test(value)) throw malformed('Content-Length is not one whole number.');
      length = Number(value);
    }
    if (length < 0) throw malformed('The header of a message has no Content-Length.');
    this.bodyStart = start + end + endOfHeader.length;
    return length;
  }
}

/** Garbage is refused at its first line instead of being collected until it fills a header. */
function plausible(header: Buffer): boolean {
  const line = header.indexOf(lineFeed);
  if (line < 0) return true;
  return line > 0 && header[line - 1] === carriageReturn && header.indexOf(':') > 0 && header.indexOf(':') < line;
}

function malformed(message: string): BusError {
  return new BusError('invalid-input', message, {
    next: 'Frame each message as `Content-Length: <bytes>`, an empty line and its JSON, as in the Language Server Protocol.',
  });
}
