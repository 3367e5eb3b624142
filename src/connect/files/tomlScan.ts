/** Finds the statements of a TOML text, so that whole ones can be cut out. What they mean is for a parser to say. */
import { parse } from 'smol-toml';

export interface Statement {
  kind: 'table' | 'value';
  /** From the beginning of its line to behind the end of its last line. */
  start: number;
  end: number;
  /** Of a table: its name, step by step. */
  path: string[];
}

/** The text has to be TOML: of anything else the answer means nothing. */
export function statements(text: string): Statement[] {
  const found: Statement[] = [];
  for (let at = 0; at < text.length;) {
    const start = at;
    while (text[at] === ' ' || text[at] === '\t') at++;
    const first = text[at];
    const end = endOfStatement(text, at);
    if (first === '[') found.push({ kind: 'table', start, end, path: pathOf(text.slice(start, end)) });
    else if (first !== undefined && first !== '#' && first !== '\n' && first !== '\r') {
      found.push({ kind: 'value', start, end, path: [] });
    }
    at = end;
  }
  return found;
}

/** Behind the first end of a line that is in no string and no bracket. */
function endOfStatement(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length;) {
    const letter = text[at];
    if (letter === '"' || letter === "'") at = endOfString(text, at);
    else if (letter === '#') at = indexOr(text, '\n', at);
    else {
      if (letter === '[' || letter === '{') depth++;
      if (letter === ']' || letter === '}') depth--;
      at++;
      if (letter === '\n' && depth <= 0) return at;
    }
  }
  return text.length;
}

function endOfString(text: string, at: number): number {
  const quote = text[at] ?? '';
  const long = quote.repeat(3);
  const escapes = quote === '"';
  const mark = text.startsWith(long, at) ? long : quote;
  for (let next = at + mark.length; next < text.length;) {
    if (escapes && text[next] === '\\') next += 2;
    else if (text.startsWith(mark, next)) {
      let end = next + mark.length;
      // A long string may end with quotes of its own, right before the mark.
      if (mark === long) while (text[end] === quote && end < next + 5) end++;
      return end;
    } else next++;
  }
  return text.length;
}

function pathOf(header: string): string[] {
  const path: string[] = [];
  let inner: unknown = parse(header.trim());
  while (typeof inner === 'object' && inner !== null) {
    if (Array.isArray(inner)) inner = inner[0] as unknown;
    else {
      const [entry] = Object.entries(inner);
      if (!entry) break;
      path.push(entry[0]);
      inner = entry[1];
    }
  }
  return path;
}

function indexOr(text: string, wanted: string, from: number): number {
  const at = text.indexOf(wanted, from);
  return at < 0 ? text.length : at;
}
