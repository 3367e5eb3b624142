import { agentLine } from '../agentLine.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { optionNumber } from '../optionNumber.ts';
import { askAndTell } from '../session.ts';

export const agents = defineCommand({
  name: 'agents',
  group: 'people',
  about: 'who is on the bus, and how each would hear of a message',
  synopsis: '[WORD]',
  needs: [],
  most: 1,
  options: {
    skill: { type: 'string', value: 'WORD', about: 'only those with a skill that has this in it' },
    online: { type: 'boolean', about: 'only those that are there now' },
    limit: { type: 'string', value: 'N', about: 'at most so many (1 to 100; 100 unless told)' },
    cursor: { type: 'string', value: 'NAME', about: 'go on after that name' },
  },
  details: 'WORD is looked for in names, descriptions, workspaces and skills.',
  examples: [
    ['agent-bus agents', 'everybody'],
    ['agent-bus agents --online', 'who is there now'],
    ['agent-bus agents --skill translation', 'who can translate?'],
    ['agent-bus agents shop --json', 'for a script'],
  ],
  async run(invocation) {
    const { skill, online, limit, cursor } = invocation.values;
    await askAndTell(
      invocation,
      'agents',
      {
        query: invocation.args[0],
        skill,
        online,
        limit: optionNumber(limit, 'limit', { least: 1, most: 100, whole: true }) ?? 100,
        cursor,
      },
      ({ you, agents: others, next }) =>
        [
          `You are ${you.name}${you.unread > 0 ? `, with ${you.unread} unread: agent-bus inbox` : ''}.`,
          ...others.map((agent) => `  ${agentLine(agent)}`),
          ...(others.length === 0 ? [nobody(invocation)] : []),
          ...(next ? [`There are more: --cursor ${next}`] : []),
        ].join('\n'),
    );
    return ExitCode.ok;
  },
});

function nobody({ args, values }: Invocation): string {
  const isFiltered = args.length > 0 || Object.keys(values).length > 0;
  return isFiltered ? 'Nobody else fits.' : 'Nobody else. To make an agent: agent-bus register NAME';
}
