import { readRecord } from '../../hub/discovery.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { hubLeave } from '../hubLeave.ts';
import { printJson, printLine } from '../print.ts';
import { runningHub } from '../runningHub.ts';

export const stop = defineCommand({
  name: 'stop',
  group: 'hub',
  about: 'stop the hub, in order; everything that was stored stays',
  synopsis: '',
  needs: [],
  most: 0,
  options: {},
  details:
    'Returns when it is gone. The next command that needs a hub starts one; so do editors and MCP bridges that are connected.',
  examples: [['agent-bus stop', 'exit code 4 if none was running']],
  async run(invocation) {
    const { json, home } = invocation;
    const running = await runningHub(invocation);
    const pid = running?.client.hub?.pid;
    if (!running || pid === undefined) {
      await (json ? printJson({ running: false, stopped: false }) : printLine('No hub is running.'));
      return ExitCode.notRunning;
    }
    await running.client.request('stop', { reason: 'stop' });
    await hubLeave(home, pid);
    const next = readRecord(home.record).record;
    if (json) await printJson({ running: next !== undefined, stopped: true, pid });
    else {
      const again = next ? ` A client that is still connected has started it again (pid ${next.pid}).` : '';
      await printLine(`The hub (pid ${pid}) has stopped.${again}`);
    }
    return ExitCode.ok;
  },
});
