import { closest } from '../closest.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { askAndTell } from '../session.ts';
import { visibleLine } from '../terminalText.ts';
import { usageError } from '../usageError.ts';

const actions = ['list', 'mine', 'create', 'join', 'leave'] as const;

export const channel = defineCommand({
  name: 'channel',
  group: 'people',
  about: 'list all channels or yours, create, join or leave one',
  synopsis: 'list|mine|create|join|leave [NAME]',
  needs: [],
  most: 2,
  options: { about: { type: 'string', value: 'TEXT', about: 'with create: what it is for' } },
  details: "Members hear what is sent to '#name'. In a shell, quote a name with #, which begins a comment there.",
  examples: [
    ['agent-bus channel', 'which channels there are'],
    ['agent-bus channel mine --as alice', 'those that alice is in'],
    ['agent-bus channel create release --about "what ships when"', 'make one'],
    ['agent-bus channel join release --as alice', 'alice hears it from now on'],
    ['agent-bus send \'#release\' "main is frozen"', 'tell everybody in it'],
  ],
  async run(invocation) {
    const [wanted = 'list', name] = invocation.args;
    const action = actions.find((candidate) => candidate === wanted);
    if (action === undefined) {
      const meant = closest(wanted, actions);
      throw usageError(
        `channel can't "${wanted.slice(0, 40)}".`,
        `${meant ? `Did you mean ${meant}? ` : ''}It can ${actions.join(', ')}.`,
      );
    }
    if (action !== 'list' && action !== 'mine' && name === undefined)
      throw usageError(`channel ${action} needs NAME.`, `For example: agent-bus channel ${action} release`);
    await askAndTell(invocation, 'channel', { action, name, about: invocation.values.about }, ({ channels }) => {
      if (channels.length === 0 && action === 'mine')
        return 'You are in no channel. All there are: agent-bus channel list';
      if (channels.length === 0) return 'There is no channel yet. Make one: agent-bus channel create NAME';
      return channels
        .map((entry) => {
          const about = entry.about ? `: ${visibleLine(entry.about, 120)}` : '';
          const mine = entry.joined ? `you are in it, ${entry.unread ?? 0} unread` : 'you are not in it';
          return `${entry.name}  ${entry.members} member${entry.members === 1 ? '' : 's'}, ${mine}${about}`;
        })
        .join('\n');
    });
    return ExitCode.ok;
  },
});
