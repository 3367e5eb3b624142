import { defineCommand, type Invocation } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { printJson, printLine } from '../print.ts';
import { Session } from '../session.ts';

export const pause = defineCommand({
  name: 'pause',
  group: 'hub',
  about: 'push nothing to any agent until `agent-bus resume`; messages are stored meanwhile',
  synopsis: '',
  needs: [],
  most: 0,
  options: {},
  details: 'Nobody is woken and no hook takes messages along. Agents that look into their inbox still find everything.',
  examples: [['agent-bus pause', 'quiet, at once and over restarts']],
  run: (invocation) => set(invocation, true),
});

export const resume = defineCommand({
  name: 'resume',
  group: 'hub',
  about: 'the end of `agent-bus pause`: what has waited goes out',
  synopsis: '',
  needs: [],
  most: 0,
  options: {},
  examples: [['agent-bus resume', 'idle agents are woken for what has come meanwhile']],
  run: (invocation) => set(invocation, false),
});

async function set(invocation: Invocation, on: boolean): Promise<ExitCode> {
  const { client } = await Session.open({ ...invocation, as: undefined });
  await client.request('pause', { on });
  if (invocation.json) await printJson({ paused: on });
  else if (on) await printLine('Paused: nothing is pushed to any agent. Go on with: agent-bus resume');
  else await printLine('Deliveries go on.');
  return ExitCode.ok;
}
