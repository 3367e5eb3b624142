import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { askAndTell } from '../session.ts';
import { usageError } from '../usageError.ts';

export const ack = defineCommand({
  name: 'ack',
  group: 'mail',
  about: 'tell the senders: done, blocked, or rejected',
  synopsis: 'ID…',
  needs: ['ID'],
  most: 200,
  options: {
    blocked: { type: 'boolean', about: 'not yet: something is in the way' },
    rejected: { type: 'boolean', about: 'no' },
    note: { type: 'string', value: 'TEXT', about: 'a word for the sender' },
  },
  details: 'All ids or none: if one of them is not your mail, nothing is done.',
  examples: [
    ['agent-bus ack m5', 'done'],
    ['agent-bus ack m5 m7 --blocked --note "waiting for the release"', 'both have to wait'],
  ],
  async run(invocation) {
    const { blocked, rejected, note } = invocation.values;
    if (blocked && rejected) throw usageError('A message is either blocked or rejected.', 'Give one of the two.');
    const outcome = blocked ? 'blocked' : rejected ? 'rejected' : 'done';
    await askAndTell(invocation, 'ack', { ids: [...invocation.args], outcome, note }, ({ results }) =>
      results
        .map(({ id, state, was }) =>
          state === 'unchanged' ? `${id} was ${was ?? 'closed'} before` : `${id}: ${state}`,
        )
        .join('\n'),
    );
    return ExitCode.ok;
  },
});
