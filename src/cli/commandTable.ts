import type { Command } from './command.ts';
import { ack } from './commands/ack.ts';
import { agents } from './commands/agents.ts';
import { allow } from './commands/allow.ts';
import { cancel } from './commands/cancel.ts';
import { channel } from './commands/channel.ts';
import { connect } from './commands/connect.ts';
import { conversation } from './commands/conversation.ts';
import { conversations } from './commands/conversations.ts';
import { disconnect } from './commands/disconnect.ts';
import { doctor } from './commands/doctor.ts';
import { door } from './commands/door.ts';
import { exportCommand } from './commands/export.ts';
import { help } from './commands/help.ts';
import { hook } from './commands/hook.ts';
import { hub } from './commands/hub.ts';
import { inbox } from './commands/inbox.ts';
import { logs } from './commands/logs.ts';
import { mcp } from './commands/mcp.ts';
import { pause, resume } from './commands/pause.ts';
import { ping } from './commands/ping.ts';
import { register } from './commands/register.ts';
import { repair } from './commands/repair.ts';
import { requests } from './commands/requests.ts';
import { revoke } from './commands/revoke.ts';
import { search } from './commands/search.ts';
import { reply, send } from './commands/send.ts';
import { show } from './commands/show.ts';
import { start } from './commands/start.ts';
import { status } from './commands/status.ts';
import { stop } from './commands/stop.ts';
import { tell } from './commands/tell.ts';
import { wait } from './commands/wait.ts';

/** In the order in which the help lists them. */
export const commands: readonly Command[] = [
  ...[hub, start, stop, status, connect, disconnect, pause, resume, door, mcp, hook],
  ...[send, reply, inbox, wait, ack, cancel, show, requests, tell, conversations, conversation, search],
  ...[agents, allow, register, revoke, channel, ping],
  ...[doctor, logs, exportCommand, repair, help],
];
