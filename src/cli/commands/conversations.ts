import { conversationsLines } from '../conversationLines.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { optionNumber } from '../optionNumber.ts';
import { askAndTell } from '../session.ts';

export const conversations = defineCommand({
  name: 'conversations',
  group: 'mail',
  about: 'conversations, the last active one first; the person sees all',
  synopsis: '',
  needs: [],
  most: 0,
  options: {
    limit: { type: 'string', value: 'N', about: 'at most so many (1 to 100; 20 unless told)' },
    cursor: { type: 'string', value: 'ID', about: 'go on after that page' },
  },
  examples: [
    ['agent-bus conversations', 'all that is said on this bus'],
    ['agent-bus conversations --as alice', "alice's own"],
  ],
  async run(invocation) {
    const { limit, cursor } = invocation.values;
    const query = { limit: optionNumber(limit, 'limit', { least: 1, most: 100, whole: true }), cursor };
    await askAndTell(invocation, 'conversations', query, conversationsLines);
    return ExitCode.ok;
  },
});
