import { version } from '../hub/version.ts';
import { globalOptions, groups, type Command, type Options } from './command.ts';
import { ExitCode, exitCodeMeanings } from './exitCode.ts';
import { print, printJson } from './print.ts';

/** For `help`, --help, and no command at all. */
export async function tellHelp(
  commands: readonly Command[],
  command: Command | undefined,
  json: boolean,
): Promise<ExitCode> {
  const text = command ? commandHelp(command) : overview(commands);
  if (json)
    await printJson({ commands: (command ? [command] : commands).map(({ name, about }) => ({ name, about })), text });
  else await print(`${text}\n`);
  return ExitCode.ok;
}

function overview(commands: readonly Command[]): string {
  const lists = Object.entries(groups).map(([group, title]) => {
    const members = commands.filter((command) => command.group === group);
    return `${title}:\n${table(members.map((command) => [command.name, command.about]))}`;
  });
  return [
    `agent-bus ${version}: messages between the AI agents on this machine, and you.`,
    'Usage: agent-bus COMMAND [ARGUMENTS] [OPTIONS]',
    ...lists,
    `Options of every command:\n${optionTable(globalOptions)}`,
    `Try it:\n${table([
      ['agent-bus hub', 'start the hub here and watch'],
      ['agent-bus register alice', 'in a second terminal: make an agent'],
      ['agent-bus send alice "Hello"', 'write to it, as the person'],
      ['agent-bus inbox --as alice', 'read its mail, as the agent'],
      ['agent-bus help send', 'everything about one command'],
    ])}`,
    `Exit codes:\n${exitCodes()}`,
    'Data lives in one folder per user; AGENT_BUS_HOME (a full path) chooses another one, with a hub of its own.',
    'A hub is started in the background whenever a command needs one; it ends by itself when nobody has needed it for a while.',
  ].join('\n\n');
}

function commandHelp(command: Command): string {
  const options: Options = { ...command.options, ...globalOptions };
  return [
    `agent-bus ${command.name}: ${command.about}`,
    `Usage: agent-bus ${[command.name, command.synopsis, '[OPTIONS]'].filter(Boolean).join(' ')}`,
    ...(command.details ? [command.details] : []),
    `Options:\n${optionTable(options)}`,
    `Examples:\n${table(command.examples)}`,
    'Exit codes: 0 done, 1 failed, 2 called wrongly, 3 nothing came, 4 no hub, 5 unknown, 6 refused, 7 needs you; see `agent-bus help`.',
  ].join('\n\n');
}

function exitCodes(): string {
  return table(exitCodeMeanings.map(([code, meaning]) => [String(code), meaning]));
}

function optionTable(options: Options): string {
  return table(
    Object.entries(options).map(([name, option]) => {
      const value = option.type === 'string' ? ` ${option.value ?? 'TEXT'}` : '';
      return [`${option.short ? `-${option.short}, ` : ''}--${name}${value}`, option.about];
    }),
  );
}

/** A long line on the left gets its explanation below, so that one example doesn't push all the others aside. */
function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...rows.map(([left]) => left.length).filter((length) => length <= 44)) + 2;
  return rows
    .map(([left, right]) =>
      left.length < width ? `  ${left.padEnd(width)}${right}` : `  ${left}\n  ${' '.repeat(width)}${right}`,
    )
    .join('\n');
}
