/**
 * The one place that decides whether an HTTP request is let in, from its head alone: nothing of a body is parsed
 * before every check has passed. The order is Host, Origin, method, token, content type, size.
 */
import type { ErrorCode, ErrorShape } from '../core/errors.ts';
import type { Caller } from '../core/model.ts';
import { bodyBytes } from './body.ts';

export const methods: readonly string[] = ['GET', 'POST', 'DELETE'];
const headerCount = 100;

export interface RequestHead {
  method: string;
  /** As it was asked for, with its query. */
  path: string;
  /** The port the request came in on: a Host or Origin that names another port is not ours. */
  port: number;
  /** Names and values in turn, as they came, so that duplicates show. */
  rawHeaders: readonly string[];
}

export interface Refusal {
  status: number;
  error: ErrorShape;
  headers?: Record<string, string>;
}

/** A visitor has shown no token, and asks for something that is there for everybody. */
export type Verdict = { caller: Caller } | { visitor: true } | { refusal: Refusal };

export type Guard = (head: RequestHead) => Verdict;

/** Says who is asking, or undefined; every way of failing looks the same from outside. */
export type Identify = (authorization: string | undefined) => Caller | undefined;

/** The rules of a door on loopback; only who the caller is gets injected. */
export function loopbackGuard(identify: Identify): Guard {
  return (head) => {
    const headers = guardedHeaders(head.rawHeaders);
    if ('refusal' in headers) return headers;
    const refusal =
      checkHost(headers.host, head.port) ?? checkOrigin(headers.origin, head.port) ?? checkMethod(head.method);
    if (refusal) return { refusal };
    if (isPublic(head)) return { visitor: true };
    const caller = identify(headers.authorization);
    if (!caller) return { refusal: unauthorized };
    const unfit = head.method === 'POST' ? checkBody(headers, head.path) : undefined;
    return unfit ? { refusal: unfit } : { caller };
  };
}

/**
 * A2A clients read an agent's card before they log in. Exactly these two addresses are public; whether there is a card
 * at one of them is not the guard's to know.
 */
export function isPublic({ method, path }: Pick<RequestHead, 'method' | 'path'>): boolean {
  return method === 'GET' && /^\/a2a\/[a-z0-9][a-z0-9-]{0,39}\/\.well-known\/agent(-card)?\.json$/.test(path);
}

/** Identity by `Authorization: Bearer`. The token itself is known only to `authenticate`. */
export function bearer(authenticate: (token: string) => Caller | undefined): Identify {
  return (authorization) => {
    const token = /^bearer ([A-Za-z0-9._~+/-]{1,512}=*)$/i.exec(authorization ?? '')?.[1];
    return token === undefined ? undefined : authenticate(token);
  };
}

interface GuardedHeaders {
  host?: string;
  origin?: string;
  authorization?: string;
  'content-type'?: string;
  'content-length'?: string;
  'transfer-encoding'?: string;
}

const guarded: ReadonlySet<string> = new Set([
  'host',
  'origin',
  'authorization',
  'content-type',
  'content-length',
  'transfer-encoding',
]);

/** Two values for one of these headers mean that two readers of the request could disagree about it. */
export function guardedHeaders(rawHeaders: readonly string[]): GuardedHeaders | { refusal: Refusal } {
  if (rawHeaders.length > 2 * headerCount)
    return { refusal: refuse(431, 'too-large', 'There are too many headers.', `Send at most ${headerCount}.`) };
  const found: Record<string, string> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!guarded.has(name)) continue;
    if (name in found)
      return { refusal: refuse(400, 'invalid-input', `The header ${name} is there twice.`, 'Send it once.') };
    found[name] = rawHeaders[at + 1]!;
  }
  if (found['content-length'] !== undefined && found['transfer-encoding'] !== undefined) {
    return {
      refusal: refuse(
        400,
        'invalid-input',
        'The length of the body is ambiguous.',
        'Send one of Content-Length and Transfer-Encoding.',
      ),
    };
  }
  return found;
}

/** DNS rebinding ends here: a page that resolves its own name to 127.0.0.1 still sends its own name. */
export function checkHost(host: string | undefined, port: number): Refusal | undefined {
  if (host === undefined)
    return refuse(400, 'invalid-input', 'The Host header is missing.', `Send Host: 127.0.0.1:${port}.`);
  if (isLoopback(host, port)) return undefined;
  return refuse(403, 'forbidden', 'This Host is not served here.', 'Use the address that `agent-bus status` shows.');
}

/** Browsers add an Origin; no page but one served by this very port may talk to the hub. */
export function checkOrigin(origin: string | undefined, port: number): Refusal | undefined {
  if (origin === undefined) return undefined;
  if (origin.toLowerCase().startsWith('http://') && isLoopback(origin.slice('http://'.length), port)) return undefined;
  return refuse(
    403,
    'forbidden',
    'Requests from web pages are not let in.',
    'Call from a program, without an Origin header.',
  );
}

export function checkMethod(method: string): Refusal | undefined {
  if (methods.includes(method)) return undefined;
  const refusal = refuse(405, 'invalid-input', 'This method is not allowed.', `Use one of ${methods.join(', ')}.`);
  return { ...refusal, headers: { allow: methods.join(', ') } };
}

export function checkBody(headers: GuardedHeaders, path: string): Refusal | undefined {
  // No web page can send these types without asking first.
  const type = path.startsWith('/a2a/') ? /^application\/(a2a\+)?json[\t ]*(;|$)/i : /^application\/json[\t ]*(;|$)/i;
  if (!type.test(headers['content-type'] ?? '')) {
    return refuse(415, 'invalid-input', 'The body has to be JSON.', 'Send Content-Type: application/json.');
  }
  const length = headers['content-length'];
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    return refuse(400, 'invalid-input', 'The Content-Length is no number.', 'Send the number of bytes.');
  return length !== undefined && Number(length) > bodyBytes ? tooLarge : undefined;
}

function isLoopback(authority: string, port: number): boolean {
  const name = authority.toLowerCase();
  return name === `127.0.0.1:${port}` || name === `localhost:${port}` || name === `[::1]:${port}`;
}

function refuse(status: number, code: ErrorCode, message: string, next: string): Refusal {
  return { status, error: { code, message, next } };
}

/** One object for no, wrong, truncated, revoked and malformed tokens, so that the answers cannot differ. */
export const unauthorized: Refusal = {
  ...refuse(
    401,
    'unauthorized',
    'A valid token is needed.',
    'Send Authorization: Bearer with the token of your agent; `agent-bus register NAME` shows it.',
  ),
  headers: { 'www-authenticate': 'Bearer' },
};

export const tooLarge: Refusal = refuse(
  413,
  'too-large',
  `The body is larger than ${bodyBytes} bytes.`,
  'Send less, or a reference to a file.',
);

export const notFound: Refusal = refuse(
  404,
  'invalid-input',
  'There is nothing at this path.',
  'Use the address that `agent-bus status` shows.',
);
