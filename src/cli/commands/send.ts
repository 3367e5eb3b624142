import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ToolInput } from '../../client/toolTypes.ts';
import { limits } from '../../core/limits.ts';
import { defineCommand, type Command, type Invocation, type Options } from '../command.ts';
import type { ExitCode } from '../exitCode.ts';
import { messageText } from '../messageText.ts';
import { optionNumber, seconds } from '../optionNumber.ts';
import { sendAndWait } from '../sendAndWait.ts';
import { usageError } from '../usageError.ts';

const kinds = ['request', 'inform', 'reply'] as const;

const options = {
  request: { type: 'boolean', about: 'it wants an answer (as --kind request)' },
  kind: { type: 'string', value: 'request|inform|reply', about: 'what it is; inform unless told' },
  'reply-to': { type: 'string', value: 'ID', about: 'it answers that message; TO may then be left out as ""' },
  wait: { type: 'string', value: 'SECONDS', about: 'wait for the answer; exit code 3 if none came in time' },
  file: { type: 'string', value: 'PATH', about: 'take the text from that file' },
  urgent: { type: 'boolean', about: 'mark it as urgent' },
  option: { type: 'string', multiple: true, value: 'TEXT', about: 'an answer to choose from (repeat it)' },
  data: { type: 'string', value: 'JSON', about: 'any JSON to go with it' },
  attach: {
    type: 'string',
    multiple: true,
    value: 'PATH',
    about: 'a file to point at (repeat it); the path is sent, not the file',
  },
  key: { type: 'string', value: 'KEY', about: 'the same key never makes two messages' },
  expires: { type: 'string', value: 'SECONDS', about: 'after that it is over' },
} as const satisfies Options;

const textNote =
  'TEXT is sent byte for byte; "-" reads it from stdin (UTF-8, no line end is taken off). A text that begins with "-"\n' +
  'goes after "--". It returns when the message is on disk.';

export const send: Command = defineCommand({
  name: 'send',
  group: 'mail',
  about: "message agents, the person, a '#channel', an A2A agent or a tcp:// address",
  synopsis: 'TO[,TO…] TEXT|-',
  needs: ['TO (in a shell, quote a #channel: # begins a comment)'],
  most: 2,
  options,
  details: [
    textNote,
    'In a shell, quote a name with #, which begins a comment there.',
    'TO may also be an address: tcp://HOST:PORT is where agent-tool’s `receive` waits; http(s)://… is an A2A agent, added',
    'on first use. Their mail is carried over the network, and the output says how far it got. agent-tool’s wire has',
    'no receipt: all that can be known is that the bytes were taken. Another machine has to be a peer of the frame door',
    'to be sent to: see `agent-bus help door`. (A comma in a URL is written %2C.)',
  ].join('\n'),
  examples: [
    ['agent-bus send alice "The build is green."', 'tell'],
    ['agent-bus send alice "What does GET /orders return?" --wait 120', 'ask, and wait for the answer'],
    ['agent-bus send alice,bob - < notes.md', 'a file to two agents'],
    ['agent-bus send \'#release\' "main is frozen" --urgent --as alice', 'to a channel, as alice'],
    ['agent-bus send person "Deploy?" --option yes --option no --wait 600 --as alice', 'let the person decide'],
    ['agent-bus send tcp://127.0.0.1:19900 "The build is green."', 'to an agent-tool session that waits there'],
    ['agent-bus send alice -- "--dry-run is broken"', 'a text that begins with "-"'],
  ],
  run: (invocation) => run(invocation, invocation.args[0], invocation.values['reply-to']),
});

export const reply: Command = defineCommand({
  name: 'reply',
  group: 'mail',
  about: 'answer a message (send --reply-to)',
  synopsis: 'ID TEXT|-',
  needs: ['ID'],
  most: 2,
  options,
  details: textNote,
  examples: [['agent-bus reply m5 "200, a list of orders"', 'the sender of m5 gets it as the answer']],
  run: (invocation) => run(invocation, undefined, invocation.args[0]),
});

async function run(
  invocation: Invocation<typeof options>,
  to: string | undefined,
  replyTo: string | undefined,
): Promise<ExitCode> {
  const { values } = invocation;
  const wait = seconds(values.wait, 'wait') ?? 0;
  const message: ToolInput<'send'> = {
    to: to
      ? to
          .split(',')
          .map((name) => name.replace(/^ +| +$/g, ''))
          .filter(Boolean)
      : undefined,
    text: await messageText(invocation, 1, values.file),
    kind: kindOf(values),
    reply_to: replyTo,
    priority: values.urgent ? 'urgent' : undefined,
    options: values.option,
    data: jsonOf(values.data),
    files: values.attach?.map(fullPath),
    key: values.key,
    expires_seconds: optionNumber(values.expires, 'expires', { least: 1, most: limits.expirySeconds, whole: true }),
  };
  return sendAndWait(invocation, message, wait);
}

function kindOf({ request, kind }: Invocation<typeof options>['values']): (typeof kinds)[number] | undefined {
  if (request && kind !== undefined && kind !== 'request')
    throw usageError(`--request and --kind ${kind} do not go together.`, 'Give one of them.');
  if (kind === undefined) return request ? 'request' : undefined;
  const known = kinds.find((candidate) => candidate === kind);
  if (known === undefined)
    throw usageError(`--kind is one of ${kinds.join(', ')}, not "${kind.slice(0, 40)}".`, 'See `agent-bus help send`.');
  return known;
}

function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(
      `--data is not JSON: ${(error as Error).message}.`,
      'Nothing was sent. In a shell, put JSON in single quotes.',
    );
  }
}

/** The reader is in another folder, so the path has to be a full one; a URL is one. */
function fullPath(path: string): string {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return path;
  const full = resolve(path);
  if (!existsSync(full)) throw usageError(`There is no file ${full}.`, 'Nothing was sent. Check the path.');
  return full;
}
