import { conversationsLines } from '../conversationLines.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { optionNumber } from '../optionNumber.ts';
import { askAndTell } from '../session.ts';

export const search = defineCommand({
  name: 'search',
  group: 'mail',
  about: 'find messages by their words, the newest first',
  synopsis: 'WORD…',
  needs: ['WORD'],
  most: 50,
  options: {
    in: { type: 'string', value: 'ID', about: 'only in that conversation' },
    limit: { type: 'string', value: 'N', about: 'at most so many (1 to 100; 20 unless told)' },
    cursor: { type: 'string', value: 'ID', about: 'go on after that page' },
  },
  examples: [
    ['agent-bus search orders endpoint', 'messages with both words'],
    ['agent-bus search orders --in c2', 'only in conversation c2'],
  ],
  async run(invocation) {
    const { limit, cursor, in: conversation } = invocation.values;
    const query = {
      query: invocation.args.join(' '),
      conversation,
      limit: optionNumber(limit, 'limit', { least: 1, most: 100, whole: true }),
      cursor,
    };
    await askAndTell(invocation, 'conversations', query, conversationsLines);
    return ExitCode.ok;
  },
});
