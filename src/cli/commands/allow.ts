import type { ConsentView, HeldView, Verdict } from '../../protocol/reachMessages.ts';
import { defineCommand, type Invocation, type Options } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { printJson, printLine } from '../print.ts';
import { Session } from '../session.ts';
import { visibleLine } from '../terminalText.ts';
import { usageError } from '../usageError.ts';

const options = {
  always: { type: 'boolean', about: 'and from now on, for agents of the one workspace to those of the other' },
  never: { type: 'boolean', about: 'not this one, and none of that workspace from now on' },
  typing: { type: 'string', value: 'NAME', about: 'let the bus type a line into that agent’s VS Code terminal' },
  'no-typing': { type: 'string', value: 'NAME', about: 'take that back' },
} as const satisfies Options;

export const allow = defineCommand({
  name: 'allow',
  group: 'people',
  about: 'what waits for your word, and your answer: who may wake whom',
  synopsis: '[ID]',
  needs: [],
  most: 1,
  options,
  details: [
    'The first time an agent of one workspace would start a turn of an agent in another, you are asked: in a window of',
    'VS Code if there is one, and here. A message that waits for it is "held"; the agent still finds it in its inbox.',
    '',
    'Typing is the last way to an idle agent that its product offers no better one for: one line, "read your inbox",',
    'only into a terminal of VS Code, only at its empty prompt, and only for agents that you name here.',
  ].join('\n'),
  examples: [
    ['agent-bus allow', 'what waits for you, and what you have decided'],
    ['agent-bus allow m41', 'deliver that one'],
    ['agent-bus allow m41 --always', 'and ask no more about these two workspaces'],
    ['agent-bus allow --typing shop-api-gemini', 'it may be woken by a typed line'],
  ],
  async run(invocation) {
    const { client } = await Session.open({ ...invocation, as: undefined });
    const [id] = invocation.args;
    const typing = typingOf(invocation);
    if (typing) {
      await client.request('typing', typing);
      const may = typing.on ? 'may be' : 'is not';
      return answer(invocation, typing, `A line ${may} typed into the terminal of ${typing.agent}.`);
    }
    if (id === undefined)
      return list(invocation, await client.request('held', {}), await client.request('consents', {}));
    const verdict = verdictOf(invocation);
    await client.request('release', { id, verdict });
    return answer(invocation, { id, verdict }, `${id}: ${verdictWords[verdict]}`);
  },
});

const verdictWords: Record<Verdict, string> = {
  once: 'it is delivered as soon as its reader is idle.',
  always: 'it is delivered as soon as its reader is idle, and you are not asked about these workspaces again.',
  never: 'it wakes nobody, and neither do others of that workspace. It stays in the inbox.',
};

function verdictOf({ values }: Invocation<typeof options>): Verdict {
  if (values.always && values.never)
    throw usageError('--always and --never are two answers.', 'Give one of them, or neither.');
  return values.always ? 'always' : values.never ? 'never' : 'once';
}

function typingOf({ values, args }: Invocation<typeof options>): { agent: string; on: boolean } | undefined {
  const { typing, 'no-typing': noTyping } = values;
  if (typing === undefined && noTyping === undefined) return undefined;
  if ((typing !== undefined && noTyping !== undefined) || args.length > 0 || values.always || values.never)
    throw usageError(
      '--typing and --no-typing stand alone.',
      'Give one of them with the name of an agent, and nothing else.',
    );
  return { agent: typing ?? noTyping ?? '', on: typing !== undefined };
}

async function list(invocation: Invocation, held: HeldView[], decided: ConsentView[]): Promise<ExitCode> {
  const waiting = held.flatMap(({ id, from, to, line, note }) => [
    `${id}  ${from} to ${to}: ${visibleLine(line)}`,
    `      ${visibleLine(note)}`,
  ]);
  const decisions = decided.map(
    ({ from, to, verdict }) =>
      `${visibleLine(from)} ${verdict === 'always' ? 'may always wake' : 'never wakes'} ${visibleLine(to)}`,
  );
  const lines = [
    ...(waiting.length > 0
      ? ['Held:', ...waiting, '', 'Deliver one: agent-bus allow ID [--always|--never]']
      : ['Nothing is held.']),
    ...(decisions.length > 0 ? ['', 'You have decided:', ...decisions] : []),
  ];
  return answer(invocation, { held, decided }, lines.join('\n'));
}

async function answer(invocation: Invocation, data: object, text: string): Promise<ExitCode> {
  if (invocation.json) await printJson(data);
  else await printLine(text);
  return ExitCode.ok;
}
