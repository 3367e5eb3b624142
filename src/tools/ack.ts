import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { defineTool } from './defineTool.ts';

export const ack = defineTool({
  name: 'ack',
  title: 'Acknowledge messages',
  effect: 'changes',
  about: 'Tell the senders that you are done with messages, are blocked on them, or reject them. All ids or none.',
  input: z.strictObject({
    ids: z.array(z.string().max(20)).min(1).max(limits.idsPerCall),
    outcome: z.enum(['done', 'blocked', 'rejected']).default('done'),
    note: z.string().max(limits.noteLength).optional(),
  }),
  async run({ ids, outcome, note }, { bus, caller }) {
    return { results: await bus.receipts.ack(caller, [...new Set(ids)], outcome, note) };
  },
  render: ({ results }) =>
    results
      .map(({ id, state, was }) => (state === 'unchanged' ? `${id} was ${was ?? 'closed'} before` : `${id}: ${state}`))
      .join('\n'),
});
