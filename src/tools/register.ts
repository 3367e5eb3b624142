import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { defineTool } from './defineTool.ts';

export const register = defineTool({
  name: 'register',
  title: 'Name and describe yourself',
  effect: 'changes',
  about: 'Choose your own name, say in one line what you do, or leave the bus. Your former name keeps reaching you.',
  input: z.strictObject({
    name: z.string().max(limits.nameLength).optional().describe('a-z 0-9 -'),
    about: z.string().max(limits.aboutLength).optional(),
    remove: z.boolean().optional().describe('leave; needs a person to come back'),
  }),
  async run({ name, about, remove }, { bus, caller }) {
    const you = bus.roster.get(caller.agent);
    if (remove) {
      await bus.remove(you);
      return { removed: you.name };
    }
    if (name !== undefined) await bus.roster.rename(you, name);
    if (about !== undefined) await bus.roster.describe(you, { about });
    return { you: bus.views.agent(you) };
  },
  render: (result) => ('you' in result && result.you ? `You are ${result.you.name} now.` : `You have left the bus.`),
});
