import { doorNames, type DoorParams, type DoorView } from '../../protocol/doorMessages.ts';
import { closest } from '../closest.ts';
import { defineCommand, type Invocation, type Options } from '../command.ts';
import { doorLines, doorWarnings } from '../doorLines.ts';
import { ExitCode } from '../exitCode.ts';
import { optionNumber } from '../optionNumber.ts';
import { printJson, printLine } from '../print.ts';
import { Session } from '../session.ts';
import { usageError } from '../usageError.ts';

const options = {
  port: {
    type: 'string',
    value: 'N',
    about: 'where it listens (19900 frames, 19901 broker, unless told; 0: any free)',
  },
  to: {
    type: 'string',
    value: 'NAME',
    about: "frames: who gets what comes in, an agent or a '#channel' (you, unless told)",
  },
  bind: { type: 'string', value: 'ADDRESS', about: 'frames: another address than loopback; needs --peer' },
  peer: {
    type: 'string',
    multiple: true,
    value: 'ADDRESS',
    about: 'frames: an address or network that may connect, and be sent to, besides this machine (repeat it)',
  },
  'no-peers': { type: 'boolean', about: 'frames: nobody but this machine may connect any more' },
} as const satisfies Options;

export const door = defineCommand({
  name: 'door',
  group: 'hub',
  about: 'let agent-tool sessions in: its broker and its TCP frames, both off until you say',
  synopsis: '[frames|broker on|off]',
  needs: [],
  most: 2,
  options,
  details: [
    'broker  On 127.0.0.1:19901. Every unchanged agent-tool session on this machine takes the bus for its broker: each',
    '        mailbox is an agent of the bus, what is posted is on disk before "ok", and other agents write to it by name.',
    'frames  On 127.0.0.1:19900. Takes what agent-tool sends straight to a host and port, as mail from an agent named',
    '        after where it came from, for whoever --to names. With --bind and --peer also from other machines.',
    '',
    'Neither asks for a password: agent-tool’s protocol has none, and nothing is encrypted. Whoever can reach the port',
    'can post; at the broker also under any name that is not an agent’s of this bus, and read every mailbox that was',
    'made through it. On loopback that is every program of every user of this machine. Your other agents’ mail stays',
    'theirs. Beyond loopback (--bind) only the addresses given by --peer get in, and an address is no proof.',
    '',
    'A door stays as you set it when the hub restarts, and keeps the hub running while it is on. What is left out',
    'stays as it was; --peer replaces all peers. A setting of VS Code (agentBus.doors…) that you have set is applied',
    'again by each window.',
  ].join('\n'),
  examples: [
    ['agent-bus door', 'both doors: open or not, where, for whom'],
    ['agent-bus door broker on', 'agent-tool sessions find their broker'],
    ['agent-bus door frames on --to shop-api-claude', 'what is sent to port 19900 is for that agent'],
    ['agent-bus door frames on --bind 192.168.1.5 --peer 192.168.1.7', 'also from one other machine'],
    ['agent-bus door frames off --peer 192.168.1.7', 'closed; but tcp://192.168.1.7:… may be sent to'],
    ['agent-bus door frames off', 'nobody comes in any more'],
  ],
  async run(invocation) {
    const params = wanted(invocation);
    const { client } = await Session.open({ ...invocation, as: undefined });
    if (params === undefined) {
      const { doors } = await client.request('status', {});
      if (invocation.json) await printJson({ doors });
      else await printLine([...doors.map(doorLines), ...advice(doors)].join('\n'));
      return ExitCode.ok;
    }
    const view = await client.request('door', params);
    if (invocation.json) await printJson(view);
    else await printLine([doorLines(view), ...doorWarnings([view])].join('\n'));
    return view.on === view.open ? ExitCode.ok : ExitCode.failure;
  },
});

/** What to set, or nothing if the doors are only to be looked at. */
function wanted({ args: [name, action], values }: Invocation<typeof options>): DoorParams | undefined {
  const { port, to, bind, peer, 'no-peers': noPeers } = values;
  const given = Object.keys(values);
  if (name === undefined) {
    if (given.length === 0) return undefined;
    throw usageError(`--${given[0]} needs a door.`, 'For example: agent-bus door frames on');
  }
  const found = doorNames.find((candidate) => candidate === name);
  if (found === undefined) {
    const meant = closest(name, doorNames);
    throw usageError(
      `There is no door "${name.slice(0, 40)}".`,
      `${meant ? `Did you mean ${meant}? ` : ''}The doors are ${doorNames.join(' and ')}.`,
    );
  }
  if (action !== 'on' && action !== 'off') {
    throw usageError(
      action === undefined ? `door ${found} needs on or off.` : `A door is on or off, not "${action.slice(0, 40)}".`,
      `For example: agent-bus door ${found} on. \`agent-bus door\` shows how they are.`,
    );
  }
  const onlyFrames = given.find((option) => option !== 'port');
  if (found === 'broker' && onlyFrames !== undefined) {
    throw usageError(
      `The broker has no --${onlyFrames}.`,
      'It is always on 127.0.0.1 and for everybody on this machine; only --port can be chosen.',
    );
  }
  if (peer !== undefined && noPeers) throw usageError('--peer and --no-peers do not go together.', 'Give one of them.');
  return {
    door: found,
    on: action === 'on',
    ...(port !== undefined && { port: optionNumber(port, 'port', { least: 0, most: 65_535, whole: true }) }),
    ...(to !== undefined && { to }),
    ...(bind !== undefined && { bind }),
    ...(peer !== undefined && { peers: peer }),
    ...(noPeers && { peers: [] }),
  };
}

function advice(doors: readonly DoorView[]): string[] {
  const warnings = doorWarnings(doors);
  return warnings.length > 0 ? warnings : ['', 'Before you open one: agent-bus help door'];
}
