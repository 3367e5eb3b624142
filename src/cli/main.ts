import { busHome } from '../hub/home.ts';
import { version } from '../hub/version.ts';
import { closest } from './closest.ts';
import { commands } from './commandTable.ts';
import type { Command } from './command.ts';
import { ExitCode, exitCodeOf } from './exitCode.ts';
import { tellHelp } from './help.ts';
import { checkArguments, parseFor, splitCommand } from './parseInvocation.ts';
import { print, printError, printJson } from './print.ts';
import { usageError } from './usageError.ts';

/** Runs one command; never throws. */
export async function main(argv: readonly string[]): Promise<number> {
  // Whoever reads us may leave; the write that failed reports it.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  try {
    return await dispatch(argv);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return ExitCode.failure;
    await printError(error, wantsJson(argv)).catch(() => undefined);
    return exitCodeOf(error);
  }
}

async function dispatch(argv: readonly string[]): Promise<ExitCode> {
  const { name, rest } = splitCommand(argv);
  if (name === undefined) return withoutCommand(argv);
  const command = named(name);
  const { help, version: onlyVersion, ...parsed } = parseFor(command, rest);
  if (onlyVersion) return tellVersion(parsed.json);
  if (help) return tellHelp(commands, command, parsed.json);
  checkArguments(command, parsed.args);
  return command.run({ ...parsed, home: busHome() });
}

function named(name: string): Command {
  const command = commands.find((candidate) => candidate.name === name);
  if (command) return command;
  const known = commands.map((candidate) => candidate.name);
  const meant = closest(name, known);
  throw usageError(
    `There is no command "${name.slice(0, 60)}".`,
    meant ? `Did you mean \`agent-bus ${meant}\`?` : `The commands are: ${known.join(', ')}.`,
  );
}

async function withoutCommand(argv: readonly string[]): Promise<ExitCode> {
  const known = ['--help', '-h', '--version', '-V', '--json'];
  const odd = argv.find((word) => !known.includes(word));
  if (odd !== undefined)
    throw usageError(`"${odd.slice(0, 60)}" stands there without a command.`, 'See `agent-bus help`.');
  const json = wantsJson(argv);
  if (argv.includes('--version') || argv.includes('-V')) return tellVersion(json);
  return tellHelp(commands, undefined, json);
}

async function tellVersion(json: boolean): Promise<ExitCode> {
  await (json ? printJson({ version }) : print(`${version}\n`));
  return ExitCode.ok;
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}
