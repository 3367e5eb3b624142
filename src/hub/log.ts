/**
 * A bounded JSON-lines log. Lines are written synchronously, so that the last ones before a crash are there; a line
 * that cannot be written is counted, not thrown. Secrets cannot get in: every key and value passes `redact`.
 */
import * as fs from 'node:fs';
import { assertPrivateFile } from './privateFolder.ts';

export type LogLevel = 'info' | 'warn' | 'error';
type Write = (event: string, fields?: Record<string, unknown>) => void;

export interface Log extends Record<LogLevel, Write> {
  close(): void;
}

export interface LogLine {
  at: string;
  level: LogLevel;
  event: string;
  [field: string]: unknown;
}

const valueLength = 500;
const lineBytes = 16_384;
const readBytes = 16 * 1024 * 1024;

export function openLog(path: string, options: { maxBytes?: number; keep?: number } = {}): Log {
  const maxBytes = options.maxBytes ?? 2 * 1024 * 1024;
  const keep = Math.max(1, options.keep ?? 1);
  let descriptor: number | undefined;
  let size = 0;
  let lost = 0;
  let closed = false;

  const open = (): number => {
    if (descriptor !== undefined) return descriptor;
    assertPrivateFile(path, { create: true });
    const opened = fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_APPEND | (fs.constants.O_NOFOLLOW ?? 0));
    size = fs.fstatSync(opened).size;
    return (descriptor = opened);
  };

  const close = (): void => {
    if (descriptor === undefined) return;
    const closing = descriptor;
    descriptor = undefined;
    fs.closeSync(closing);
  };

  const rotate = (): void => {
    close();
    try {
      for (let n = keep; n > 1; n--) {
        if (fs.existsSync(`${path}.${n - 1}`)) fs.renameSync(`${path}.${n - 1}`, `${path}.${n}`);
      }
      fs.renameSync(path, `${path}.1`);
    } catch {
      // On Windows a reader can be in the way. Try again with the next line, but never grow without end.
      if (size > 2 * maxBytes) fs.truncateSync(path, 0);
    }
  };

  const append = (level: LogLevel, event: string, fields: Record<string, unknown> = {}): void => {
    if (closed) return;
    try {
      const line = Buffer.from(format(level, event, lost > 0 ? { ...fields, linesLost: lost } : fields));
      open();
      if (size > 0 && size + line.length > maxBytes) rotate();
      const file = open();
      size += fs.writeSync(file, line);
      lost = 0;
    } catch {
      lost++;
      try {
        close();
      } catch {
        // The next line opens it anew.
      }
    }
  };

  return {
    info: (event, fields) => append('info', event, fields),
    warn: (event, fields) => append('warn', event, fields),
    error: (event, fields) => append('error', event, fields),
    close: () => {
      closed = true;
      try {
        close();
      } catch {
        // Nothing more is written.
      }
    },
  };
}

function format(level: LogLevel, event: string, fields: Record<string, unknown>): string {
  const head = { at: new Date().toISOString(), level, event: redact(String(event)) };
  const safe = safeObject(fields, 0) as Record<string, unknown>;
  // What the log says about a line comes first and cannot be overwritten by a field of the same name.
  const line = JSON.stringify({ ...head, ...safe, ...head });
  return (line.length <= lineBytes ? line : JSON.stringify({ ...head, tooLong: line.length })) + '\n';
}

const secretKey = /token|authori[sz]ation|secret|password|passwd|cookie|credential|bearer|api[-_ ]?key|key[-_ ]?hash/i;
const secretText: [RegExp, string][] = [
  [/(ab[ot]_)[A-Za-z0-9_-]+/g, '$1[redacted]'],
  [/\b(bearer|basic)(\s+|%20)[^\s"',;]+/gi, '$1 [redacted]'],
  [/\b(authorization|token|secret|password|api[-_]?key)(["']?\s*[=:]\s*["']?)[^\s"'&,;]+/gi, '$1$2[redacted]'],
];

/** Takes out of a text whatever looks like a secret of ours, then cuts it. In this order: half a token is one, too. */
function redact(text: string): string {
  let safe = text.length > 8 * valueLength ? text.slice(0, 8 * valueLength) : text;
  for (const [pattern, replacement] of secretText) safe = safe.replace(pattern, replacement);
  const whole = safe.length <= valueLength && text.length <= 8 * valueLength;
  return whole ? safe : `${safe.slice(0, valueLength)}…`;
}

function safeObject(value: object, depth: number): unknown {
  const entries = Object.entries(value)
    .slice(0, 40)
    .map(([key, inner]) => [redact(key), isSecret(key, inner) ? '[redacted]' : safeValue(inner, depth + 1)]);
  return Object.fromEntries(entries);
}

/** A number or a flag under such a name (tokens: 12) gives nothing away. */
function isSecret(key: string, value: unknown): boolean {
  return secretKey.test(key) && value !== undefined && typeof value !== 'number' && typeof value !== 'boolean';
}

function safeValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value === 'bigint' || typeof value === 'symbol') return redact(String(value));
  if (typeof value === 'function') return '[function]';
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 4) return '[nested]';
  if (value instanceof Error) return safeError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '[no date]' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, 40).map((inner) => safeValue(inner, depth + 1));
  return safeObject(value, depth);
}

function safeError(error: Error, depth: number): unknown {
  const { code } = error as { code?: unknown };
  const where = error.stack
    ?.split('\n')
    .slice(1, 6)
    .map((line) => line.trim())
    .join(' < ');
  return safeObject({ name: error.name, code, message: error.message, where, cause: error.cause }, depth);
}

/** The last lines, oldest first, across the rotated files. A line torn by a crash is skipped. */
export function readLog(path: string, options: { lines?: number } = {}): LogLine[] {
  const wanted = options.lines ?? 100;
  let found: LogLine[] = [];
  for (let n = 0; found.length < wanted; n++) {
    const text = tail(n === 0 ? path : `${path}.${n}`);
    // Between the two renames of a rotation there is no current file, but there are older ones.
    if (text === undefined && n > 0) break;
    found = [...parseLines(text ?? ''), ...found];
  }
  return wanted > 0 ? found.slice(-wanted) : [];
}

function tail(path: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { size } = fs.fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.min(size, readBytes));
    const count = fs.readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8', 0, count);
  } finally {
    fs.closeSync(descriptor);
  }
}

function parseLines(text: string): LogLine[] {
  return text.split('\n').flatMap((line): LogLine[] => {
    try {
      const parsed = JSON.parse(line) as LogLine | null;
      return typeof parsed?.event === 'string' ? [parsed] : [];
    } catch {
      return [];
    }
  });
}
