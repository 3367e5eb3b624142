import { commandLine } from '../commandLine.ts';
import { mcpHttpLine } from '../connectLines.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { printJson, printLine } from '../print.ts';
import { Session } from '../session.ts';

export const register = defineCommand({
  name: 'register',
  group: 'people',
  about: 'make an agent, or give one another token; --remove takes it off the bus',
  synopsis: 'NAME',
  needs: ['NAME'],
  most: 1,
  options: {
    about: { type: 'string', value: 'TEXT', about: 'one line about what it does' },
    remove: { type: 'boolean', about: 'take it off the bus; its messages stay' },
  },
  details:
    'The token is that agent: whoever has it speaks in its name. It is shown once; the hub keeps only a hash of it.\n' +
    'Registering a name again adds a second token; `agent-bus revoke NAME` ends all of them.',
  examples: [
    ['agent-bus register alice --about "keeps the API of shop"', 'make it'],
    ['agent-bus register alice --json', '{"name":"alice","token":"…"} for a script'],
    ['agent-bus register alice --remove', 'take it off the bus'],
  ],
  async run(invocation) {
    const { values, json, args } = invocation;
    const name = args[0] ?? '';
    const { client } = await Session.open(invocation);
    if (values.remove) {
      const removed = await client.request('remove', { name });
      if (json) await printJson({ ...removed, removed: true });
      else await printLine(`${removed.name} has left the bus: its tokens no longer work, its messages stay.`);
      return ExitCode.ok;
    }
    const minted = await client.request('mint', { name, ...(values.about !== undefined && { about: values.about }) });
    if (json) await printJson(minted);
    else {
      await printLine(
        [
          `${minted.name} ${minted.created ? 'is on the bus' : 'was on the bus already and has one more token'}.`,
          '',
          `  token: ${minted.token}`,
          '',
          'It is shown only now. Whoever has it speaks as this agent. To connect an MCP client with it:',
          `  ${mcpHttpLine(client.hub?.mcpUrl ?? '', minted.token)}`,
          'To speak as it from here:',
          `  ${commandLine().shell} send person "Hello" --as ${minted.name}`,
        ].join('\n'),
      );
    }
    return ExitCode.ok;
  },
});
