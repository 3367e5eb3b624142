import { whole } from './lines.ts';

export const foldLines = 60;
export const foldCharacters = 4_000;
/** Markdown beyond this is shown as plain text: nobody reads it as a page, and it must not cost seconds. */
export const markdownCharacters = 200_000;
const sliceCharacters = 12_000;
const plainSlice = 40_000;

export interface Slice {
  text: string;
  plain: boolean;
}

const fenceLine = /^ {0,3}(`{3,}|~{3,})/;

/** @returns the beginning of a long text, or undefined for a text that is shown whole. */
export function folded(text: string): string | undefined {
  const end = foldEnd(text);
  if (end === undefined) return undefined;
  const head = text.slice(0, end).trimEnd();
  const fence = openFence(head);
  return fence === undefined ? head : `${head}\n${fence}`;
}

function foldEnd(text: string): number | undefined {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at <= foldCharacters; at = text.indexOf('\n', at + 1)) {
    if (++lines === foldLines && text.length - at > 1) return at;
  }
  if (text.length <= foldCharacters) return undefined;
  const line = text.lastIndexOf('\n', foldCharacters);
  return line > foldCharacters / 2 ? line : whole(text, foldCharacters);
}

/** The fence of a code block that is still open at the end of the text. */
function openFence(text: string): string | undefined {
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const fence = fenceLine.exec(line)?.[1];
    if (fence === undefined) continue;
    if (open === undefined) open = fence;
    else if (fence[0] === open[0] && fence.length >= open.length && line.trim() === fence) open = undefined;
  }
  return open;
}

/**
 * A text in parts that can be rendered one after the other, each in a moment. Markdown is cut at empty lines outside of
 * code blocks where there are such; a part never ends within a line unless the line itself is too long.
 */
export function slices(text: string): Slice[] {
  const plain = text.length > markdownCharacters;
  const size = plain ? plainSlice : sliceCharacters;
  if (text.length <= size) return [{ text, plain }];
  const parts: Slice[] = [];
  let carried: string | undefined;
  for (let from = 0; from < text.length;) {
    const end = sliceEnd(text, from, size, plain);
    let part = text.slice(from, end);
    if (!plain) {
      if (carried !== undefined) part = `${carried}\n${part}`;
      carried = openFence(part);
      if (carried !== undefined) part = `${part.replace(/\n$/, '')}\n${carried}`;
    }
    parts.push({ text: part, plain });
    from = end;
  }
  return parts;
}

function sliceEnd(text: string, from: number, size: number, plain: boolean): number {
  if (text.length - from <= size) return text.length;
  const limit = from + size;
  if (!plain) {
    const paragraph = text.lastIndexOf('\n\n', limit);
    if (paragraph > from + size / 4) return paragraph + 2;
  }
  const line = text.lastIndexOf('\n', limit);
  return line > from ? line + 1 : whole(text, limit);
}
