import { parseArgs } from 'node:util';
import { closest } from './closest.ts';
import { globalOptions, type Command, type Invocation } from './command.ts';
import { usageError } from './usageError.ts';

export type ParsedArguments = Pick<Invocation, 'values' | 'args' | 'literalFrom' | 'json' | 'as'> & {
  help: boolean;
  version: boolean;
};

/** The command's name is the first word that is neither an option nor the value of --as. */
export function splitCommand(argv: readonly string[]): { name: string | undefined; rest: string[] } {
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (word === '--') break;
    if (word === '--as') i++;
    else if (!word.startsWith('-')) return { name: word, rest: argv.toSpliced(i, 1) };
  }
  return { name: undefined, rest: [...argv] };
}

export function parseFor(command: Command, argv: string[]): ParsedArguments {
  const options = { ...globalOptions, ...command.options };
  const { values, tokens } = parse(command, argv, options);
  const positionals = tokens.filter((token) => token.kind === 'positional');
  const terminator = tokens.find((token) => token.kind === 'option-terminator')?.index ?? Infinity;
  const before = positionals.filter((token) => token.index < terminator).length;
  const { as, json, help, version, ...own } = values as Record<string, string | boolean | undefined>;
  return {
    values: own as Invocation['values'],
    args: positionals.map((token) => token.value),
    literalFrom: before,
    json: json === true,
    as: as as string | undefined,
    help: help === true,
    version: version === true,
  };
}

export function checkArguments(command: Command, args: readonly string[]): void {
  const missing = command.needs[args.length];
  const usage = `Usage: agent-bus ${command.name} ${command.synopsis}. See \`agent-bus help ${command.name}\`.`;
  if (missing !== undefined) throw usageError(`${command.name} needs ${missing}.`, usage);
  if (args.length > command.most) {
    const surplus = args.slice(command.most).join(' ').slice(0, 60);
    throw usageError(`There is something too much: "${surplus}".`, `Put a text of several words in quotes. ${usage}`);
  }
}

function parse(command: Command, args: string[], options: Command['options']) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true, tokens: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith('ERR_PARSE_ARGS')) throw error;
    const unknown = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
    if (unknown === undefined) throw usageError(`${message.split('\n', 1)[0] ?? message}`, hint(command));
    const meant = closest(unknown.replace(/^-+/, ''), Object.keys(options));
    const literal = 'Text that begins with "-" goes after "--".';
    throw usageError(
      `${command.name} has no option ${unknown}.`,
      `${meant ? `Did you mean --${meant}? ` : ''}${literal} ${hint(command)}`,
    );
  }
}

const hint = (command: Command): string => `See \`agent-bus help ${command.name}\`.`;
