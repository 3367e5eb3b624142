import { closest } from '../closest.ts';
import { defineCommand } from '../command.ts';
import { tellHelp } from '../help.ts';
import { usageError } from '../usageError.ts';

export const help = defineCommand({
  name: 'help',
  group: 'care',
  about: 'how everything, or one command, is used',
  synopsis: '[COMMAND]',
  needs: [],
  most: 1,
  options: {},
  examples: [
    ['agent-bus help', 'all commands'],
    ['agent-bus help send', 'one of them'],
  ],
  async run({ args: [name], json }) {
    // Not at the top: the table holds this command, too.
    const { commands } = await import('../commandTable.ts');
    const command = commands.find((candidate) => candidate.name === name);
    if (name !== undefined && !command) {
      const meant = closest(
        name,
        commands.map((candidate) => candidate.name),
      );
      throw usageError(
        `There is no command "${name.slice(0, 60)}".`,
        meant ? `Did you mean \`agent-bus help ${meant}\`?` : 'See `agent-bus help`.',
      );
    }
    return tellHelp(commands, command, json);
  },
});
