import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { printJson, printLine } from '../print.ts';
import { Session } from '../session.ts';

export const revoke = defineCommand({
  name: 'revoke',
  group: 'people',
  about: 'end all tokens of an agent; the agent stays',
  synopsis: 'NAME',
  needs: ['NAME'],
  most: 1,
  options: {},
  examples: [['agent-bus revoke alice', 'nobody can speak as alice any more, until `agent-bus register alice`']],
  async run(invocation) {
    const { client } = await Session.open(invocation);
    const result = await client.request('revoke', { name: invocation.args[0] ?? '' });
    const tokens = result.revoked === 1 ? '1 token' : `${result.revoked} tokens`;
    if (invocation.json) await printJson(result);
    else await printLine(`${tokens} of ${result.name} ended. A new one: agent-bus register ${result.name}`);
    return ExitCode.ok;
  },
});
