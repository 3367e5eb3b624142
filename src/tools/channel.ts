import { z } from 'zod';
import { cleanLine } from '../core/envelope.ts';
import { BusError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import { defineTool } from './defineTool.ts';

export const channel = defineTool({
  name: 'channel',
  title: 'Channels',
  effect: 'changes',
  about: 'List all channels or mine, create one, join or leave. Members hear what is sent to "#name".',
  input: z.strictObject({
    action: z.enum(['list', 'mine', 'create', 'join', 'leave']).default('list'),
    name: z
      .string()
      .max(limits.nameLength + 1)
      .optional(),
    about: z.string().max(limits.aboutLength).optional(),
  }),
  async run({ action, name, about }, { bus, caller }) {
    if (action === 'list') return { channels: bus.channels.list(caller) };
    if (action === 'mine') return { channels: bus.channels.mine(caller) };
    if (name === undefined) {
      throw new BusError('invalid-input', `To ${action} a channel, name it.`, {
        next: 'Give `name`, for example "release".',
      });
    }
    if (action === 'create') return { channels: [await bus.channels.create(caller, name, about ?? '')] };
    return {
      channels: [await (action === 'join' ? bus.channels.join(caller, name) : bus.channels.leave(caller, name))],
    };
  },
  render: ({ channels }) =>
    channels.length === 0
      ? 'There is none yet.'
      : channels
          .map((entry) => {
            const about = entry.about ? ` "${cleanLine(entry.about, 120)}"` : '';
            return `- ${entry.name}${about}, ${entry.members} members, ${entry.joined ? `you are in it, ${entry.unread ?? 0} unread` : 'you are not in it'}`;
          })
          .join('\n'),
});
