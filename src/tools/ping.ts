import { z } from 'zod';
import { cleanLine } from '../core/envelope.ts';
import { limits } from '../core/limits.ts';
import { agentLine } from './agents.ts';
import { defineTool } from './defineTool.ts';

export const ping = defineTool({
  name: 'ping',
  title: 'Is that agent there?',
  effect: 'reads',
  about: 'Is that agent there, how fast does it answer, and by which route would it hear a message?',
  input: z.strictObject({ to: z.string().max(limits.addressLength).describe('name, or tcp://host:port') }),
  run: ({ to }, { bus, signal }) => bus.ping(to, signal),
  render(result) {
    if (result.name === undefined)
      return `${cleanLine(result.address, 200)} ${result.rtt_ms === null ? 'did not answer' : `answered in ${result.rtt_ms} ms`}.`;
    const silence = result.trouble ? cleanLine(result.trouble, 300) : 'No live connection to time';
    const time = result.rtt_ms === null ? silence : `It answered in ${result.rtt_ms} ms`;
    return `${agentLine(result)}\n${time}; last seen ${result.last_seen ?? 'never'}.`;
  },
});
