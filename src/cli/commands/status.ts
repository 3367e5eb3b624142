import type { HubStatus } from '../../protocol/messages.ts';
import { bytes } from '../bytes.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { doorText } from '../doorLines.ts';
import { printJson, printLine } from '../print.ts';
import { runningHub } from '../runningHub.ts';
import { askAndTell } from '../session.ts';
import { statusLines } from '../statusLines.ts';
import { duration } from '../times.ts';

export const status = defineCommand({
  name: 'status',
  group: 'hub',
  about: 'is the hub running, where, and how is it; with an id: how far that message got',
  synopsis: '[ID]',
  needs: [],
  most: 1,
  options: {},
  details:
    'Without ID it never starts a hub. With the ID of a message: which step it reached with each recipient, a request’s\n' +
    'state, and what an agent elsewhere says of its work. `agent-bus show ID` shows the message as well.',
  examples: [
    ['agent-bus status m5', 'who has seen m5, and is it answered?'],
    ['agent-bus status', 'exit code 4 if none is running'],
    ['agent-bus status --json', '{"running":true,"pid":…,"version":…,"mcpUrl":…,"rpcPort":…}'],
  ],
  async run(invocation) {
    const { json, home, args } = invocation;
    if (args[0] !== undefined) {
      await askAndTell(invocation, 'status', { id: args[0] }, statusLines);
      return ExitCode.ok;
    }
    const running = await runningHub(invocation);
    if (!running) {
      await (json
        ? printJson({ running: false, home: home.folder })
        : printLine(`No hub is running. Its data is in ${home.folder}; agent-bus start starts one.`));
      return ExitCode.notRunning;
    }
    const found = await running.client.request('status', {});
    await (json ? printJson({ running: true, ...found }) : printLine(statusText(found)));
    return ExitCode.ok;
  },
});

function statusText(hub: HubStatus): string {
  const { rpc, mcpSessions, waitingCalls } = hub.connections;
  const health =
    typeof hub.health === 'string' ? hub.health : `${hub.health.message} ${hub.health.next} (${hub.health.code})`;
  return [
    `The hub is running: version ${hub.version}, pid ${hub.pid}, for ${duration(hub.uptimeSeconds)}`,
    `  MCP          ${hub.mcpUrl}`,
    `  TCP          127.0.0.1:${hub.rpcPort}`,
    `  on the bus   ${count(hub.agents, 'agent')}, ${count(hub.conversations, 'conversation')}, ${count(hub.messages, 'message')}, ${count(hub.pendingRequests, 'pending request')}`,
    `  connected    ${count(rpc, 'client')}, ${count(mcpSessions, 'MCP session')}, ${count(waitingCalls, 'waiting call')}`,
    `  size         database ${bytes(hub.databaseBytes)}, log ${bytes(hub.logBytes)}, memory ${bytes(hub.memoryBytes)}`,
    `  data         ${hub.home}`,
    `  health       ${health}`,
    ...hub.doors.filter(({ on }) => on).map((door) => `  ${`${door.door} door`.padEnd(12)} ${doorText(door)}`),
    ...(hub.paused ? ['  paused       no agent is woken until the person goes on'] : []),
  ].join('\n');
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
