/** One table of ours in a TOML file of somebody else: put at its end, replaced, taken out, and nothing else touched. */
import { isDeepStrictEqual } from 'node:util';
import { parse, TomlError } from 'smol-toml';
import { layoutOf } from './layout.ts';
import { statements, type Statement } from './tomlScan.ts';
import { lineAt, Unreadable } from './unreadable.ts';

export type TomlValue = string | number | boolean | readonly string[];
type Fields = Record<string, unknown>;

/** @throws Unreadable */
export function withTomlTable(text: string, path: readonly string[], table: Record<string, TomlValue>): string {
  const found = read(text, path);
  if (found !== undefined && fits(found, table)) return text;
  const { eol } = layoutOf(text);
  const body = [header(path), ...Object.entries(table).map(([key, value]) => `${key} = ${printed(value)}`)].join(eol);
  const [own] = ownBlocks(text, path);
  if (own) {
    const tail = text.slice(own.start, own.end).endsWith('\n') ? eol : '';
    return checked(text, text.slice(0, own.start) + body + tail + text.slice(own.end), path);
  }
  if (found !== undefined) throw elsewhere(text, path);
  if (text === '') return checked(text, body + eol, path);
  // A text without an end of its last line keeps none.
  return checked(text, text.endsWith('\n') ? text + eol + body + eol : text + eol + eol + body, path);
}

/** @returns the text without the table and the tables in it, or undefined if nothing is left of it */
export function withoutTomlTable(text: string, path: readonly string[]): string | undefined {
  if (read(text, path) === undefined) return text;
  const blocks = ownBlocks(text, path);
  if (blocks.length === 0) throw elsewhere(text, path);
  let result = text;
  for (const { start, end } of blocks.reverse()) {
    const before = result.slice(0, start);
    const after = result.slice(end);
    const isUnended = after === '' && !result.endsWith('\n');
    result = before.replace(isUnended ? /(?:\r?\n){1,2}$/ : /(?<=\n)\r?\n$/, '') + after;
  }
  return result === '' ? undefined : checked(text, result, path);
}

export function hasTomlTable(text: string, path: readonly string[]): boolean {
  return read(text, path) !== undefined;
}

interface Block {
  start: number;
  end: number;
}

/** The table and those in it, each from its header to its last value: what is said below that is about something else. */
function ownBlocks(text: string, path: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let own: Block | undefined;
  for (const statement of statements(text)) {
    if (statement.kind === 'table') {
      own = isInside(statement, path) ? { start: statement.start, end: statement.end } : undefined;
      if (own) blocks.push(own);
    } else if (own) own.end = statement.end;
  }
  return blocks;
}

function isInside({ path }: Statement, own: readonly string[]): boolean {
  return own.every((step, i) => path[i] === step);
}

/** @returns what stands at that path */
function read(text: string, path: readonly string[]): Fields | undefined {
  let inner: unknown = parsed(text);
  for (const step of path) inner = isFields(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined;
  return inner === undefined ? undefined : isFields(inner) ? inner : {};
}

function fits(found: Fields, table: Record<string, TomlValue>): boolean {
  return !('url' in found) && Object.entries(table).every(([key, value]) => isDeepStrictEqual(found[key], value));
}

function checked(before: string, after: string, path: readonly string[]): string {
  let result: Fields;
  try {
    result = parsed(after);
  } catch {
    throw new Unreadable(`"${path[0]}" is written in a way that nothing can be added to`);
  }
  if (!isDeepStrictEqual(without(parsed(before), path), without(result, path))) {
    throw new Unreadable('it can’t be changed without touching something else');
  }
  return after;
}

/** A copy without what stands at that path, nor what is empty without it. */
function without(table: Fields, path: readonly string[]): Fields {
  const [step = '', ...steps] = path;
  const { [step]: inner, ...others } = table;
  if (steps.length === 0) return others;
  if (!isFields(inner)) return { ...table };
  const rest = without(inner, steps);
  return Object.keys(rest).length === 0 ? others : { ...others, [step]: rest };
}

function parsed(text: string): Fields {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    if (error instanceof TomlError) {
      throw new Unreadable(
        `it is no TOML (${error.message.split('\n', 1)[0]?.replace(/^Invalid TOML document: /, '')})`,
        error.line,
      );
    }
    throw new Unreadable('it is nested too deeply');
  }
}

function elsewhere(text: string, path: readonly string[]): Unreadable {
  const at = text.indexOf(path.at(-1) ?? '');
  return new Unreadable(
    `"${path.join('.')}" is set there without a table of its own`,
    at < 0 ? undefined : lineAt(text, at),
  );
}

function header(path: readonly string[]): string {
  return `[${path.map((step) => (/^[\w-]+$/.test(step) ? step : JSON.stringify(step))).join('.')}]`;
}

function printed(value: TomlValue): string {
  return typeof value === 'object' ? `[${value.map(printed).join(', ')}]` : JSON.stringify(value);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
