import { compareVersions } from '../../client/versions.ts';
import { BusError } from '../../core/errors.ts';
import { readRecord } from '../../hub/discovery.ts';
import { version } from '../../hub/version.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { connectLines } from '../connectLines.ts';
import { doorText } from '../doorLines.ts';
import { ExitCode } from '../exitCode.ts';
import { ForegroundHub } from '../foregroundHub.ts';
import { hubLeave } from '../hubLeave.ts';
import { printJson, printLine } from '../print.ts';
import { runningHub } from '../runningHub.ts';
import { watch, type Watch } from '../watch.ts';

export const hub = defineCommand({
  name: 'hub',
  group: 'hub',
  about: 'run the hub in this terminal and watch the traffic, until Ctrl-C',
  synopsis: '',
  needs: [],
  most: 0,
  options: {},
  details:
    'Prints the address, lines to copy and paste, and then what happens, as it happens. Ctrl-C stops the hub in order.\n' +
    'If a hub is running already, that one is watched, and Ctrl-C only stops watching.\n' +
    'With --json: one JSON object a line, first {"running":true,…}, then the events.',
  examples: [
    ['agent-bus hub', 'start and watch'],
    ['AGENT_BUS_HOME=/tmp/try agent-bus hub', 'another bus, with data of its own'],
  ],
  async run(invocation) {
    const stopWanted = interruption();
    const running = await runningHub(invocation);
    if (running) {
      const found = running.client.hub;
      if (!found || compareVersions(version, found.version) <= 0) return follow(invocation, stopWanted);
      // An older one makes room, as for every other command.
      await running.client.request('stop', { reason: 'upgrade' });
      await hubLeave(invocation.home, found.pid);
    }
    const own = new ForegroundHub(invocation.home);
    const watching = await own.answering(invocation);
    if (!own.isIn(watching)) return follow(invocation, stopWanted, watching);
    await introduce(invocation, watching, 'The hub is running');
    const end = await Promise.race([own.ended, stopWanted]);
    if (end === 'interrupted') {
      process.once('SIGINT', () => own.kill());
      await own.stop(watching);
      await say(invocation, 'The hub has stopped.');
      return ExitCode.ok;
    }
    if (end.code === 0) {
      const next = readRecord(invocation.home.record).record;
      await say(
        invocation,
        next ? `Another hub took over: version ${next.version}, pid ${next.pid}.` : 'The hub was stopped.',
      );
      return ExitCode.ok;
    }
    throw endedUnexpectedly(end.signal ? `ended by ${end.signal}` : `exit code ${end.code ?? 'unknown'}`);
  },
});

/** Watches a hub that somebody else runs. */
async function follow(invocation: Invocation, stopWanted: Promise<'interrupted'>, given?: Watch): Promise<ExitCode> {
  const watching = given ?? (await watch(invocation));
  await introduce(invocation, watching, 'A hub is running already');
  const pid = watching.client.hub?.pid;
  if ((await Promise.race([stopWanted, watching.lost])) === 'interrupted') {
    watching.client.close();
    await say(invocation, 'Stopped watching; the hub goes on. To stop it: agent-bus stop');
    return ExitCode.ok;
  }
  // One that stops in order takes its record away; one that was killed leaves it.
  if (readRecord(invocation.home.record).record?.pid === pid) throw endedUnexpectedly('the connection broke');
  await say(invocation, 'The hub was stopped.');
  return ExitCode.ok;
}

function endedUnexpectedly(how: string): BusError {
  return new BusError('hub-unavailable', `The hub ended unexpectedly: ${how}.`, {
    next: 'Nothing that was stored is lost. Look at `agent-bus logs`; `agent-bus hub` starts it again.',
  });
}

async function introduce({ json }: Invocation, { client }: Watch, what: string): Promise<void> {
  const found = client.hub;
  if (!found) return;
  if (json) return printJson({ running: true, ...found });
  await printLine(`${what}: ${found.mcpUrl} (version ${found.version}, pid ${found.pid})\n`);
  const { doors } = await client.request('status', {});
  const on = doors.filter((door) => door.on).map((door) => `${door.door} door: ${doorText(door)}\n`);
  if (on.length > 0) await printLine(on.join(''));
  await printLine(`${connectLines(found.mcpUrl)}\n\nTraffic, as it happens; Ctrl-C ends it:`);
}

async function say({ json }: Invocation, text: string): Promise<void> {
  // Nobody may be left to read it.
  if (!json) await printLine(text).catch(() => undefined);
}

function interruption(): Promise<'interrupted'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve('interrupted'));
  });
}
