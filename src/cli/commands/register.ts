import type { MintResult } from '../../protocol/messages.ts';
import { commandLine } from '../commandLine.ts';
import { mcpHttpLine } from '../connectLines.ts';
import { defineCommand, type Invocation, type Options } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { openAgent } from '../openAgent.ts';
import { printJson, printLine } from '../print.ts';
import { registerRemote } from '../registerRemote.ts';
import { Session, type Speaker } from '../session.ts';
import { usageError } from '../usageError.ts';

const options = {
  about: { type: 'string', value: 'TEXT', about: 'one line about what it does' },
  skill: { type: 'string', multiple: true, value: 'TEXT', about: 'what it is good at, in a word or two (repeat it)' },
  remove: { type: 'boolean', about: 'take it off the bus; its messages stay' },
  open: { type: 'boolean', about: 'let others ask it over A2A; shows its address' },
  close: { type: 'boolean', about: 'nobody asks it over A2A any more' },
  name: { type: 'string', value: 'NAME', about: 'with a URL: what to call that agent here' },
  'bearer-from': { type: 'string', value: 'FROM', about: 'with a URL: the bearer token it wants, from FROM' },
  header: { type: 'string', value: 'NAME', about: 'with a URL: the header in which it wants a key…' },
  'header-from': { type: 'string', value: 'FROM', about: '…and the key, from FROM' },
} as const satisfies Options;

type Values = Invocation<typeof options>['values'];

const onlyWithUrl = ['name', 'bearer-from', 'header', 'header-from'] as const;
const onlyWithName = ['about', 'skill', 'open', 'close'] as const;

export const register = defineCommand({
  name: 'register',
  group: 'people',
  about: 'make an agent, add an A2A agent by its URL, open one to others, or --remove one',
  synopsis: 'NAME|URL',
  needs: ['NAME, or the URL of an A2A agent'],
  most: 1,
  options,
  details: [
    'NAME  The token is that agent: whoever has it speaks in its name. It is shown once; the hub keeps only a hash of it.',
    '      Registering a name again adds a second token; `agent-bus revoke NAME` ends all of them.',
    'URL   Reads the agent’s card there (https://…, or http://…), and gives it a name on this bus. A message to it goes',
    '      out over A2A; how it answers, and how long it takes, is its own affair. Adding it again reads the card anew.',
    'FROM  is a file, "-" for stdin (asked for at a terminal), or env:NAME. Secrets are never taken from the command line,',
    '      where the shell’s history and other users would see them, and never shown. The hub keeps them in its data',
    '      folder, which is yours alone, since it has to send them to that agent.',
    '--open needs no token by itself, but whoever asks does: `agent-bus register CALLER` makes one. Only programs on',
    '      this machine reach the hub.',
  ].join('\n'),
  examples: [
    ['agent-bus register alice --about "keeps the API of shop"', 'make it'],
    ['agent-bus register alice --json', '{"name":"alice","token":"…"} for a script'],
    ['agent-bus register alice --remove', 'take it off the bus'],
    ['agent-bus register https://agents.example/weather', 'add an A2A agent'],
    ['agent-bus register https://agents.example/weather --bearer-from token.txt', 'one that wants a token'],
    ['agent-bus register alice --open --skill "REST APIs"', 'others may ask alice over A2A'],
  ],
  async run(invocation) {
    const { values, args } = invocation;
    const [subject = ''] = args;
    checkTogether(subject, values);
    if (subject.includes('://')) return registerRemote(invocation, subject, values);
    if (values.remove) return remove(invocation, subject);
    const { about, skill: skills } = values;
    if (values.open || values.close) return openAgent(invocation, subject, values.open === true, { about, skills });
    return mint(invocation, subject, { about, skills });
  },
});

function checkTogether(subject: string, values: Values): void {
  const isUrl = subject.includes('://');
  const actions = (['remove', 'open', 'close'] as const).filter((action) => values[action]);
  if (actions.length > 1) {
    throw usageError(`--${actions[0]} and --${actions[1]} do not go together.`, 'Give one of them.');
  }
  if (isUrl && values.remove) {
    throw usageError('--remove takes a name.', '`agent-bus agents` shows what that agent is called here.');
  }
  const stray = (isUrl ? onlyWithName : onlyWithUrl).find((option) => values[option] !== undefined);
  if (stray === undefined) return;
  throw usageError(
    isUrl ? `--${stray} is for agents of this bus, not for a URL.` : `--${stray} is for the URL of an A2A agent.`,
    isUrl
      ? 'An agent elsewhere describes itself by its card.'
      : 'Nothing was done. A URL begins with https:// or http://. See `agent-bus help register`.',
  );
}

async function remove(speaker: Speaker, name: string): Promise<ExitCode> {
  const { client } = await Session.open(speaker);
  const removed = await client.request('remove', { name });
  if (speaker.json) await printJson({ ...removed, removed: true });
  else await printLine(`${removed.name} has left the bus: its tokens no longer work, its messages stay.`);
  return ExitCode.ok;
}

async function mint(
  speaker: Speaker,
  name: string,
  { about, skills }: { about: string | undefined; skills: string[] | undefined },
): Promise<ExitCode> {
  const { client } = await Session.open(speaker);
  const minted = await client.request('mint', {
    name,
    ...(about !== undefined && { about }),
    ...(skills !== undefined && { skills }),
  });
  if (speaker.json) await printJson(minted);
  else await printLine(mintedLines(minted, client.hub?.mcpUrl ?? ''));
  return ExitCode.ok;
}

function mintedLines(minted: MintResult, mcpUrl: string): string {
  return [
    `${minted.name} ${minted.created ? 'is on the bus' : 'was on the bus already and has one more token'}.`,
    '',
    `  token: ${minted.token}`,
    '',
    'It is shown only now. Whoever has it speaks as this agent. To connect an MCP client with it:',
    `  ${mcpHttpLine(mcpUrl, minted.token)}`,
    'To speak as it from here:',
    `  ${commandLine().shell} send person "Hello" --as ${minted.name}`,
  ].join('\n');
}
