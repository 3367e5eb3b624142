import { defineCommand } from '../command.ts';
import { closest } from '../closest.ts';
import { ExitCode } from '../exitCode.ts';
import { optionNumber } from '../optionNumber.ts';
import { askAndTell } from '../session.ts';
import { statusLines } from '../statusLines.ts';
import { usageError } from '../usageError.ts';

const states = ['pending', 'answered', 'failed', 'cancelled', 'expired'] as const;

export const requests = defineCommand({
  name: 'requests',
  group: 'mail',
  about: 'what was asked, and how it stands; also what agents elsewhere are at work on',
  synopsis: '',
  needs: [],
  most: 0,
  options: {
    state: { type: 'string', value: states.join('|'), about: 'only those' },
    received: { type: 'boolean', about: 'what others have asked of you, instead of what you have asked' },
    oldest: { type: 'boolean', about: 'the oldest first' },
    limit: { type: 'string', value: 'N', about: 'at most so many (1 to 100; 20 unless told)' },
    cursor: { type: 'string', value: 'ID', about: 'go on after that page' },
  },
  examples: [
    ['agent-bus requests --state pending', 'what nobody has answered yet'],
    ['agent-bus requests --received --state pending --oldest', 'who has waited longest for you'],
    ['agent-bus requests --state failed --as alice', "alice's, with the reasons"],
  ],
  async run(invocation) {
    const { state, received, oldest, limit, cursor } = invocation.values;
    await askAndTell(
      invocation,
      'status',
      {
        state: stateOf(state),
        role: received ? 'received' : 'sent',
        order: oldest ? 'oldest' : 'newest',
        limit: optionNumber(limit, 'limit', { least: 1, most: 100, whole: true }),
        cursor,
      },
      statusLines,
    );
    return ExitCode.ok;
  },
});

function stateOf(wanted: string | undefined): (typeof states)[number] | undefined {
  if (wanted === undefined) return undefined;
  const found = states.find((state) => state === wanted);
  if (found !== undefined) return found;
  const meant = closest(wanted, states);
  throw usageError(
    `--state is one of ${states.join(', ')}, not "${wanted.slice(0, 40)}".`,
    meant ? `Did you mean ${meant}?` : 'See `agent-bus help requests`.',
  );
}
