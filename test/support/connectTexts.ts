/** Configuration files as people and programs write them: any content, any layout, with remarks in odd places. */
import fc from 'fast-check';
import { join } from 'node:path';
import { Launch } from '../../src/connect/launch.ts';
import type { Place } from '../../src/connect/products/product.ts';

export function placeIn(home: string, project: string, env: Record<string, string> = {}): Place {
  return { home, project, env, launch: new Launch(join(home, 'bus folder', 'bin'), 'linux') };
}

/** Decisions that a printer asks for one by one; the same tape gives the same text. */
class Tape {
  private readonly numbers: readonly number[];
  private at = 0;

  constructor(numbers: readonly number[]) {
    this.numbers = numbers;
  }

  pick<T>(choices: readonly T[]): T {
    const number = this.numbers[this.at++ % Math.max(1, this.numbers.length)] ?? 0;
    return choices[number % choices.length] as T;
  }
}

const tape = fc.array(fc.nat(997), { minLength: 1, maxLength: 60 });
const word = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom('a', 'note', '__proto__', 'agent-bus', '//', '[x]', 'é😀'),
);
const leaf = fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null), fc.constant({}), fc.constant([]));

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(word, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const events = ['SessionStart', 'Stop', 'sessionStart', 'stop', 'AfterAgent', 'Other'];
const command = fc.constantFrom('echo hi', '/opt/agent-bus-like hook', "'x y' hook claude", 'agent-bus inbox', '');
const hook = fc.record({ type: fc.constant('command'), command }, { requiredKeys: ['command'] });
const group = fc.oneof(hook, fc.record({ matcher: word, hooks: fc.array(hook, { maxLength: 2 }) }));
const hooks = fc.dictionary(fc.constantFrom(...events), fc.oneof(fc.array(group, { maxLength: 2 }), fc.constant([])));
const server = fc.record({ command: word, args: fc.array(word, { maxLength: 2 }) });
const servers = fc.dictionary(
  word.filter((name) => name !== 'agent-bus'),
  fc.oneof(server, value),
  { maxKeys: 3 },
);

const configuration = fc
  .tuple(
    fc.dictionary(word, value, { maxKeys: 4, noNullPrototype: true }),
    fc.record({ mcpServers: servers, servers, hooks, version: fc.constant(1) }, { requiredKeys: [] }),
    fc.boolean(),
  )
  .map(([others, known, first]) => (first ? { ...known, ...others, ...known } : { ...others, ...known }));

/** JSON with comments, as text. */
export const jsonTexts = fc.tuple(configuration, tape).map(([root, decisions]) => printed(root, new Tape(decisions)));

function printed(root: object, tape: Tape): string {
  const style = tape.pick(['pretty', 'pretty', 'mixed', 'odd', 'minified'] as const);
  const eol = tape.pick(['\n', '\n', '\r\n']);
  const unit = tape.pick(['  ', '    ', '\t']);
  const print = (value: unknown, indent: string): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const isList = Array.isArray(value);
    const [open, close] = isList ? ['[', ']'] : ['{', '}'];
    const inner = indent + unit;
    const colon = style === 'minified' ? ':' : ': ';
    const items = isList
      ? value.map((item) => print(item, inner))
      : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}${colon}${print(item, inner)}`);
    const isOdd = style === 'odd';
    const remark = (): string => (isOdd ? tape.pick(['', '', ' // re, } mark', ' /* re ] */']) : '');
    const line = (text: string): string => (text.includes('//') ? text + eol : text);
    if (items.length === 0) {
      const blank = isOdd ? tape.pick(['', ' ', eol, `${eol}${indent}`, line(' // none'), ' /* , */ ']) : '';
      return open + blank + close;
    }
    const isInline = style === 'minified' || (style !== 'pretty' && tape.pick([true, false]));
    if (isInline) {
      const gap = style === 'minified' ? '' : tape.pick(['', ' ']);
      const end = isOdd ? tape.pick(['', ',', ' ,']) : '';
      return open + gap + items.join(style === 'minified' ? ',' : ', ') + end + line(remark()) + gap + close;
    }
    const own = isOdd ? tape.pick(['', `${inner}// about what comes${eol}`]) : '';
    const lines = items.map((item, i) => {
      const isLast = i === items.length - 1;
      return inner + item + (isLast ? (isOdd ? tape.pick(['', ',']) : '') : ',') + remark();
    });
    const last = isOdd ? tape.pick(['', `${inner}// the end${eol}`, `${eol}${eol}`]) : '';
    return open + remark() + eol + own + lines.join(eol) + eol + last + indent + close;
  };
  return tape.pick(['', '', '// of mine\n', ' ']) + print(root, '') + tape.pick([eol, eol, '', `${eol}${eol}`]);
}

const tomlKey = fc.constantFrom('model', 'approval_policy', 'x-y', '"quoted key"', 'a.b', 'n');
const tomlValue = fc.constantFrom(
  '"text # no remark"',
  "'[mcp_servers.agent-bus]'",
  '"""\n[mcp_servers.agent-bus]\ncommand = "no"\n"""',
  "'''\n[mcp_servers.agent-bus] # it's \\\n'''",
  '"""ends in quotes"""""',
  '[\n  [1, 2], # remark ]\n  ["mcp_servers.agent-bus"],\n]',
  '{ a = 1, b = "}" }',
  '9223372036854775807',
  '1979-05-27T07:32:00Z',
  'true',
);
const remark = fc.constantFrom('', ' # remark', '\t# [mcp_servers.agent-bus]');
const header = fc.constantFrom(
  '[mcp_servers.other]',
  '[mcp_servers.agent-bus-2]',
  '[mcp_servers."agent.bus"]',
  '[ projects."/a b/[x]" ]',
  '[[list]]',
  '[tools]',
);

const values = (maxLength: number) =>
  fc.uniqueArray(fc.tuple(tomlKey, tomlValue, remark), { selector: ([key]) => key, maxLength });
const tables = fc.uniqueArray(fc.tuple(header, values(3)), { selector: ([name]) => name, maxLength: 4 });
const ends = fc.constantFrom('', '\n', '\n\n', '\n# the end', '\n# the end\n');
const gaps = fc.constantFrom('\n', '\n\n', '\n# about it\n');

/** TOML, as text. */
export const tomlTexts = fc
  .tuple(values(4), tables, fc.constantFrom('\n', '\r\n'), ends, gaps)
  .map(([top, rest, eol, end, gap]) => (joined(top, rest, gap) + end).replaceAll('\n', eol));

/** Tables that can follow any of the above, since their names are others. */
export const moreTomlTables = fc.tuple(tables, ends, gaps).map(
  ([rest, end, gap]) =>
    joined(
      [],
      rest.map(([name, entries]) => [name.replace(/^\[+ */, '$&z.'), entries]),
      gap,
    ) + end,
);

type Entry = [key: string, value: string, note: string];

function joined(top: Entry[], rest: [header: string, entries: Entry[]][], gap: string): string {
  const lines = (entries: Entry[]): string[] => entries.map(([key, value, note]) => `${key} = ${value}${note}`);
  const parts = [lines(top).join('\n'), ...rest.map(([name, entries]) => [name, ...lines(entries)].join('\n'))];
  return parts.filter((part) => part !== '').join(gap);
}
