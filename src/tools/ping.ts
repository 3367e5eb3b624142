import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { agentLine } from './agents.ts';
import { defineTool } from './defineTool.ts';

export const ping = defineTool({
  name: 'ping',
  title: 'Is that agent there?',
  effect: 'reads',
  about: 'Is that agent there, how fast does it answer, and by which route would it hear a message?',
  input: z.strictObject({ to: z.string().max(limits.nameLength) }),
  run: ({ to }, { bus, signal }) => bus.ping(to, signal),
  render: (result) =>
    `${agentLine(result)}\n${result.rtt_ms === null ? 'No live connection to time' : `Its client answered in ${result.rtt_ms} ms`}; last seen ${result.last_seen ?? 'never'}.`,
});
