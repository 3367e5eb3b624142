import { BusError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import { parseJson } from '../../protocol/depth.ts';

/** A request to agent-tool's broker. What was left out is empty, or 0. */
export interface BrokerRequest {
  op: string;
  to: string;
  from: string;
  msg: string;
  mailbox: string;
  timeout: number;
}

/** A message of 1 MiB and what is around it; the protocol's own limit. */
export const requestBytes = 1_048_576 + 4_096;

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const firstPrintable = 0x20;

/**
 * Finds the end of one JSON object in a stream that may end after it or not. It looks at each byte once and keeps no
 * more than a request may have; whether the object is valid is for `parseRequest` to say.
 */
export class RequestScanner {
  private held = Buffer.alloc(0);
  private bytes = 0;
  private depth = 0;
  private inString = false;
  private escaped = false;

  /** The whole object, once its last byte is there. Throws when no object can come of this any more. */
  push(chunk: Buffer): Buffer | undefined {
    const end = this.endIn(chunk);
    const piece = end === undefined ? chunk : chunk.subarray(0, end);
    const total = this.bytes + piece.length;
    if (total > requestBytes) {
      throw invalid(`the request is larger than ${requestBytes} bytes`, 'split the message or send the path of a file');
    }
    if (end !== undefined && this.bytes === 0) return piece;
    this.keep(piece, total);
    return end === undefined ? undefined : this.held.subarray(0, total);
  }

  /** What is wrong when nothing more comes. */
  incomplete(why: string): BusError {
    return invalid(`${why} before the request was complete`, 'send one whole JSON object');
  }

  /** In one piece, since a peer may send a byte at a time and a buffer for each would take a hundred times as much. */
  private keep(piece: Buffer, total: number): void {
    if (total > this.held.length) {
      const larger = Buffer.allocUnsafe(Math.min(requestBytes, Math.max(1_024, 2 * total)));
      this.held.copy(larger, 0, 0, this.bytes);
      this.held = larger;
    }
    piece.copy(this.held, this.bytes);
    this.bytes = total;
  }

  private endIn(chunk: Buffer): number | undefined {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (byte === backslash) this.escaped = true;
        else if (byte === quote) this.inString = false;
        // Such a string never becomes valid: better to say so now than to wait for its end.
        else if (byte < firstPrintable) throw invalid('a string holds an unescaped control character', form);
      } else if (byte === quote && this.depth > 0) {
        this.inString = true;
      } else if (byte === openBrace || (byte === openBracket && this.depth > 0)) {
        this.depth++;
      } else if (this.depth === 0) {
        if (!isSpace(byte)) throw invalid('a request is one JSON object', form);
      } else if ((byte === closeBrace || byte === closeBracket) && --this.depth === 0) {
        return at + 1;
      }
    }
    return undefined;
  }
}

/** Keys in any case; unknown ones and `null` are passed over, as the original does. */
export function parseRequest(bytes: Buffer): BrokerRequest {
  const request: BrokerRequest = { op: '', to: '', from: '', msg: '', mailbox: '', timeout: 0 };
  for (const [spelled, value] of Object.entries(parsed(bytes))) {
    const key = spelled.toLowerCase();
    if (value === null) continue;
    if (key === 'timeout') {
      if (!Number.isSafeInteger(value)) throw invalid(`"timeout" is not a whole number`, 'give it in seconds');
      request.timeout = value as number;
    } else if (isTextKey(key)) {
      if (typeof value !== 'string') throw invalid(`"${key}" is not a string`, form);
      request[key] = value.toWellFormed();
    }
  }
  return request;
}

const form = 'send for example {"op":"post","to":"agentB","from":"agentA","msg":"hello"}';
const textKeys = ['op', 'to', 'from', 'msg', 'mailbox'] as const;

function isTextKey(key: string): key is (typeof textKeys)[number] {
  return (textKeys as readonly string[]).includes(key);
}

function parsed(bytes: Buffer): object {
  try {
    return parseJson(bytes.toString('utf8'), limits.jsonDepth) as object;
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    const reason = error.cause instanceof SyntaxError ? error.cause.message : error.message.replace(/\.$/, '');
    throw invalid(reason, form);
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function invalid(what: string, next: string): BusError {
  return new BusError('invalid-input', `invalid JSON: ${what}`, { next });
}
