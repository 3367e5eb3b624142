import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { inboxLines } from '../inboxLines.ts';
import { optionNumber, seconds } from '../optionNumber.ts';
import { Session } from '../session.ts';
import { usageError } from '../usageError.ts';
import { waitForMail } from '../waitForMail.ts';

const filters = ['new', 'open', 'all'] as const;
const kinds = ['request', 'inform', 'reply'] as const;

export const inbox = defineCommand({
  name: 'inbox',
  group: 'mail',
  about: 'read mail, the oldest first; what was printed counts as shown',
  synopsis: '',
  needs: [],
  most: 0,
  options: {
    filter: {
      type: 'string',
      value: 'new|open|all',
      about: 'new: not shown yet (the default); open: not finished either; all',
    },
    from: { type: 'string', value: 'NAME', about: 'only from that agent' },
    kind: { type: 'string', value: 'request|inform|reply', about: 'only of that kind' },
    limit: { type: 'string', value: 'N', about: 'at most so many (1 to 100; 20 unless told)' },
    cursor: { type: 'string', value: 'ID', about: 'go on after that message' },
    wait: { type: 'string', value: 'SECONDS', about: 'wait for something new; exit code 3 if nothing came' },
    peek: { type: 'boolean', about: 'leave it unread' },
  },
  details: 'Reading removes nothing: `agent-bus ack` or an answer does, for the sender to know.',
  examples: [
    ['agent-bus inbox', 'what is new for you'],
    ['agent-bus inbox --as alice', 'what is new for alice, as her model may read it'],
    ['agent-bus inbox --filter open', 'also what was read and is not finished'],
    ['agent-bus inbox --wait 300 --json', 'wait five minutes, for a script'],
  ],
  async run(invocation) {
    const { values } = invocation;
    const filter = oneOf(values.filter, filters, 'filter') ?? 'new';
    const query = {
      filter,
      from: values.from,
      kind: oneOf(values.kind, kinds, 'kind'),
      cursor: values.cursor,
      limit: optionNumber(values.limit, 'limit', { least: 1, most: 100, whole: true }),
    };
    const wait = seconds(values.wait, 'wait') ?? 0;
    const waited = wait > 0 ? await waitForMail(invocation, query, wait) : undefined;
    const session = waited?.session ?? (await Session.open(invocation, { reconnect: true }));
    const answer = waited && filter === 'new' ? waited.answer : await session.ask('inbox', query);
    await session.tell(answer, inboxLines, { peek: values.peek });
    return waited?.answer.data.messages.length === 0 ? ExitCode.nothing : ExitCode.ok;
  },
});

function oneOf<Word extends string>(
  text: string | undefined,
  words: readonly Word[],
  option: string,
): Word | undefined {
  if (text === undefined) return undefined;
  const word = words.find((candidate) => candidate === text);
  if (word === undefined)
    throw usageError(
      `--${option} is one of ${words.join(', ')}, not "${text.slice(0, 40)}".`,
      'See `agent-bus help inbox`.',
    );
  return word;
}
