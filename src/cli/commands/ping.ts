import { agentLine } from '../agentLine.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { askAndTell } from '../session.ts';
import { visibleLine } from '../terminalText.ts';

export const ping = defineCommand({
  name: 'ping',
  group: 'people',
  about: 'is that agent there, and by which way would it hear',
  synopsis: 'NAME|tcp://HOST:PORT|URL',
  needs: ['NAME, or an address'],
  most: 1,
  options: {},
  details:
    'An address is asked over the network: tcp://HOST:PORT answers as agent-tool does, a URL by its A2A card.\n' +
    'Careful: agent-tool’s own `receive` takes a single connection and ends with it. A ping makes it return without a\n' +
    'message, so don’t ping where one is waiting; just send, which asks and delivers over one connection.',
  examples: [
    ['agent-bus ping alice', 'how far away is alice?'],
    ['agent-bus ping tcp://127.0.0.1:19900', 'does something speak agent-tool’s protocol there?'],
  ],
  async run(invocation) {
    const { rtt_ms, name } = await askAndTell(invocation, 'ping', { to: invocation.args[0] ?? '' }, (result) => {
      const { address = '' } = result;
      if (result.name === undefined) {
        return `${visibleLine(address, 300)} ${result.rtt_ms === null ? 'did not answer' : `answered in ${result.rtt_ms} ms`}`;
      }
      const silence = result.trouble ? visibleLine(result.trouble, 300) : 'no live connection to time';
      const time = result.rtt_ms === null ? silence : `it answered in ${result.rtt_ms} ms`;
      return `${agentLine(result)}\n  ${time}`;
    });
    return rtt_ms === null && name === undefined ? ExitCode.failure : ExitCode.ok;
  },
});
