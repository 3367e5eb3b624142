/**
 * JSON with comments, changed in place: every byte that is not ours stays where it is. What `add` puts in, `remove` takes
 * out again to the byte, as long as nobody has laid out the lines around it anew.
 */
import {
  applyEdits,
  createScanner,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Edit,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import type { Json } from '../products/product.ts';
import { indentAt, layoutOf, lineStartBefore, type Layout } from './layout.ts';
import { lineAt, Unreadable } from './unreadable.ts';

/** The scanner's kinds of tokens: its own names for them exist at compile time only, which a stripped file has not. */
const token = { comma: 5, lineComment: 12, blockComment: 13, space: 15 };

export type Path = readonly (string | number)[];

export class JsonText {
  readonly text: string;
  private readonly root: Node;
  private readonly layout: Layout;

  /** @throws Unreadable */
  constructor(text: string) {
    this.text = text;
    this.root = parsed(text);
    this.layout = layoutOf(text);
    if (this.root.type !== 'object') throw new Unreadable('it holds no object', lineAt(text, this.root.offset));
  }

  value(path: Path = []): unknown {
    const node = this.find(path);
    // The parser's objects have no prototype, and so equal no others.
    return node && structuredClone<unknown>(getNodeValue(node));
  }

  isEmpty(path: Path): boolean {
    const node = this.find(path);
    return isContainer(node) && childrenOf(node).length === 0;
  }

  /** Sets a key. Objects on the way that are not there are made. */
  set(path: Path, value: Json): JsonText {
    const node = this.find(path);
    if (!node) return this.insert(path, value, 'object');
    const isInline = !this.text.slice(0, node.offset).includes('\n') && !this.text.slice(node.offset).includes('\n');
    const content = isInline ? JSON.stringify(value) : this.printed(value, indentAt(this.text, node.offset));
    return this.edited([{ offset: node.offset, length: node.length, content }]);
  }

  /** Adds to the end of a list, which is made if it is not there. */
  append(path: Path, value: Json): JsonText {
    const list = this.find(path);
    if (!list) return this.set(path, [value]);
    if (list.type !== 'array') throw this.misplaced(path, list, 'a list');
    return this.edited(this.insertion(list, (indent) => this.printed(value, indent), inline(value)));
  }

  remove(path: Path): JsonText {
    const container = this.find(path.slice(0, -1));
    const child = this.find(path);
    if (!container || !child) return this;
    const whole = child.parent?.type === 'property' ? child.parent : child;
    return this.edited(this.removal(container, whole));
  }

  private insert(path: Path, value: Json, kind: 'object'): JsonText {
    const container = this.find(path.slice(0, -1));
    const key = path.at(-1);
    if (!container) return this.insert(path.slice(0, -1), { [String(key)]: value }, kind);
    if (container.type !== kind) throw this.misplaced(path.slice(0, -1), container, 'an object');
    const name = `${JSON.stringify(key)}:`;
    const spaced = (indent: string): string => `${name} ${this.printed(value, indent)}`;
    return this.edited(
      this.insertion(container, spaced, { tight: name + inline(value).tight, loose: `${name} ${inline(value).loose}` }),
    );
  }

  private insertion(container: Node, printed: (indent: string) => string, short: Inline): Edit[] {
    const { eol, unit } = this.layout;
    const { text } = this;
    const close = container.offset + container.length - 1;
    const children = childrenOf(container);
    const first = children[0];
    const last = children.at(-1);
    const outer = indentAt(text, container.offset);
    if (!first || !last) {
      const isMinified = childrenOf(this.root).length > 0 && !textOf(text, this.root).includes('\n');
      if (isMinified) return [insertAt(close, isLoose(textOf(text, this.root)) ? short.loose : short.tight)];
      return [insertAt(close, eol + outer + unit + printed(outer + unit) + eol + outer)];
    }
    const end = last.offset + last.length;
    const comma = this.commaAfter(end);
    const after = comma === undefined ? end : comma + 1;
    const tail = comma === undefined ? '' : ',';
    if (!text.slice(container.offset, first.offset).includes('\n')) {
      const gap = isLoose(textOf(text, container)) ? ' ' : '';
      const entry = gap + (gap === '' ? short.tight : short.loose);
      return [insertAt(after, comma === undefined ? `,${entry}` : entry + tail)];
    }
    const own = lineStartBefore(text, last.offset).atLineStart ? indentAt(text, last.offset) : outer + unit;
    const block = insertAt(this.endOfRemarks(after), eol + own + printed(own) + tail);
    return comma === undefined ? [insertAt(end, ','), block] : [block];
  }

  private removal(container: Node, child: Node): Edit[] {
    const { text } = this;
    const children = childrenOf(container);
    const index = children.indexOf(child);
    const before = children[index - 1];
    const isLast = index === children.length - 1;
    const comma = this.commaAfter(child.offset + child.length);
    const end = comma === undefined ? child.offset + child.length : comma + 1;
    const { start, atLineStart } = lineStartBefore(text, child.offset);
    if (!before && isLast) {
      if (!atLineStart) return [cut(child.offset, end)];
      const close = container.offset + container.length - 1;
      return [cut(start, /^\r?\n[ \t]*$/.test(text.slice(end, close)) ? close : end)];
    }
    if (!before || !isLast || comma !== undefined) return [cut(start, end)];
    const separator = this.commaAfter(before.offset + before.length);
    return separator === undefined ? [] : [cut(separator, separator + 1), cut(Math.max(start, separator + 1), end)];
  }

  /** The comma that follows, if nothing but white space and comments comes before it. */
  private commaAfter(offset: number): number | undefined {
    const scanner = createScanner(this.text, true);
    scanner.setPosition(offset);
    return (scanner.scan() as number) === token.comma ? scanner.getTokenOffset() : undefined;
  }

  /** Behind the comments that follow on the same line: they belong to what stands before them. */
  private endOfRemarks(offset: number): number {
    const scanner = createScanner(this.text, false);
    scanner.setPosition(offset);
    for (let end = offset; ;) {
      const found: number = scanner.scan();
      const next = scanner.getTokenOffset() + scanner.getTokenLength();
      if (found === token.lineComment) return next;
      if (found === token.blockComment && !scanner.getTokenValue().includes('\n')) end = next;
      else if (found !== token.space) return end;
    }
  }

  /** Of a key that is there twice the last counts, as it does for everybody who reads the file. */
  private find(path: Path): Node | undefined {
    let node: Node | undefined = this.root;
    for (const step of path) {
      if (typeof step === 'number') node = node?.type === 'array' ? node.children?.[step] : undefined;
      else if (node && node.type !== 'object') return undefined;
      else node = node?.children?.findLast(({ children }) => children?.[0]?.value === step)?.children?.[1];
    }
    return node;
  }

  private printed(value: Json, indent: string): string {
    return JSON.stringify(value, null, this.layout.unit).replaceAll('\n', this.layout.eol + indent);
  }

  private edited(edits: Edit[]): JsonText {
    return new JsonText(applyEdits(this.text, edits));
  }

  private misplaced(path: Path, node: Node, wanted: string): Unreadable {
    return new Unreadable(`"${path.join('.')}" is not ${wanted}`, lineAt(this.text, node.offset));
  }
}

interface Inline {
  tight: string;
  loose: string;
}

function inline(value: Json): Inline {
  return { tight: JSON.stringify(value), loose: JSON.stringify(value, null, 1).replace(/\n */g, ' ') };
}

const isLoose = (text: string): boolean => /["\]}\d\w][:,] /.test(text);
const isContainer = (node: Node | undefined): node is Node => node?.type === 'object' || node?.type === 'array';
const childrenOf = (node: Node): Node[] => node.children ?? [];
const textOf = (text: string, node: Node): string => text.slice(node.offset, node.offset + node.length);
const insertAt = (offset: number, content: string): Edit => ({ offset, length: 0, content });
const cut = (start: number, end: number): Edit => ({ offset: start, length: end - start, content: '' });

function parsed(text: string): Node {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch {
    throw new Unreadable('it is nested too deeply');
  }
  const [first] = errors;
  if (first) {
    const what = printParseErrorCode(first.error)
      .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
      .toLowerCase();
    throw new Unreadable(`it is no JSON (${what})`, lineAt(text, first.offset));
  }
  if (!root) throw new Unreadable('it is no JSON');
  return root;
}
