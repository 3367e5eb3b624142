import { defineCommand } from '../command.ts';
import { connectLines } from '../connectLines.ts';
import { ExitCode } from '../exitCode.ts';
import { printJson, printLine } from '../print.ts';
import { runningHub } from '../runningHub.ts';
import { Session } from '../session.ts';

export const start = defineCommand({
  name: 'start',
  group: 'hub',
  about: 'start the hub in the background, if none is running',
  synopsis: '',
  needs: [],
  most: 0,
  options: {},
  details:
    'Other commands do this by themselves. It ends when nobody has needed it for a while (settings.json: idleMinutes).',
  examples: [
    ['agent-bus start', 'start it, and see how to connect'],
    ['agent-bus start --json', '{"running":true,"pid":…,"mcpUrl":…} for a script'],
  ],
  async run(invocation) {
    const running = await runningHub(invocation);
    const { client } = await Session.open({ ...invocation, as: undefined });
    const started = running?.client.hub?.pid !== client.hub?.pid;
    if (invocation.json) await printJson({ running: true, started, ...client.hub });
    else {
      const { mcpUrl = '', pid = 0, version = '' } = client.hub ?? {};
      await printLine(
        `The hub ${started ? 'is running' : 'was running already'}: ${mcpUrl} (version ${version}, pid ${pid})`,
      );
      if (started) await printLine(`\n${connectLines(mcpUrl)}`);
    }
    return ExitCode.ok;
  },
});
