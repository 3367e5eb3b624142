import { agentLine } from '../agentLine.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { askAndTell } from '../session.ts';

export const ping = defineCommand({
  name: 'ping',
  group: 'people',
  about: 'is that agent there, and by which way would it hear',
  synopsis: 'NAME',
  needs: ['NAME'],
  most: 1,
  options: {},
  examples: [['agent-bus ping alice', 'how far away is alice?']],
  async run(invocation) {
    await askAndTell(invocation, 'ping', { to: invocation.args[0] ?? '' }, (result) => {
      if (result.name === undefined) return `${result.address} answered in ${result.rtt_ms} ms`;
      const silence = result.trouble ?? 'no live connection to time';
      const time = result.rtt_ms === null ? silence : `it answered in ${result.rtt_ms} ms`;
      return `${agentLine(result)}\n  ${time}`;
    });
    return ExitCode.ok;
  },
});
