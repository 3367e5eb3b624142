import { agentLine } from '../agentLine.ts';
import { defineCommand } from '../command.ts';
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
    online: { type: 'boolean', about: 'only those that are there now' },
    limit: { type: 'string', value: 'N', about: 'at most so many (1 to 100; 100 unless told)' },
    cursor: { type: 'string', value: 'NAME', about: 'go on after that name' },
  },
  details: 'WORD is looked for in names, descriptions and workspaces.',
  examples: [
    ['agent-bus agents', 'everybody'],
    ['agent-bus agents --online', 'who is there now'],
    ['agent-bus agents shop --json', 'for a script'],
  ],
  async run(invocation) {
    const { online, limit, cursor } = invocation.values;
    await askAndTell(
      invocation,
      'agents',
      {
        query: invocation.args[0],
        online,
        limit: optionNumber(limit, 'limit', { least: 1, most: 100, whole: true }) ?? 100,
        cursor,
      },
      ({ you, agents: others, next }) =>
        [
          `You are ${you.name}${you.unread > 0 ? `, with ${you.unread} unread: agent-bus inbox` : ''}.`,
          ...others.map((agent) => `  ${agentLine(agent)}`),
          ...(others.length === 0 ? ['Nobody else. To make an agent: agent-bus register NAME'] : []),
          ...(next ? [`There are more: --cursor ${next}`] : []),
        ].join('\n'),
    );
    return ExitCode.ok;
  },
});
