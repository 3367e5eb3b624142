import type { ToolInput } from '../../client/toolTypes.ts';
import { BusError } from '../../core/errors.ts';
import { conversationId, messageId } from '../../core/model.ts';
import { conversationLines } from '../conversationLines.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { optionNumber } from '../optionNumber.ts';
import { Session, type Answer } from '../session.ts';

export const conversation = defineCommand({
  name: 'conversation',
  group: 'mail',
  about: 'one conversation, its newest page first',
  synopsis: "ID|NAME|'#CHANNEL'",
  needs: ['ID, NAME or #CHANNEL'],
  most: 1,
  options: {
    before: { type: 'string', value: 'ID', about: 'the page before that message' },
    after: { type: 'string', value: 'ID', about: 'the page after that message' },
    limit: { type: 'string', value: 'N', about: 'at most so many messages (1 to 100; 20 unless told)' },
  },
  details: 'NAME is the one you talk with. In a shell, quote a name with #, which begins a comment there.',
  examples: [
    ['agent-bus conversation alice', 'what you and alice have said'],
    ["agent-bus conversation '#release'", 'what was said in a channel'],
    ['agent-bus conversation c2 --before m5', 'what was before m5'],
  ],
  async run(invocation) {
    const { before, after, limit } = invocation.values;
    const page = { before, after, limit: optionNumber(limit, 'limit', { least: 1, most: 100, whole: true }) };
    const session = await Session.open(invocation, { reconnect: true });
    await session.tell(await find(session, invocation.args[0] ?? '', page), conversationLines);
    return ExitCode.ok;
  },
});

/** "claude" and "mary" are names and could be ids: what looks like an id is tried as one, and is a name otherwise. */
async function find(
  session: Session,
  wanted: string,
  page: ToolInput<'conversation'>,
): Promise<Answer<'conversation'>> {
  const ask = (place: ToolInput<'conversation'>) => session.ask('conversation', { ...place, ...page });
  if (conversationId.parse(wanted) !== undefined) {
    try {
      return await ask({ id: wanted });
    } catch (error) {
      if (!(error instanceof BusError) || error.code !== 'unknown-conversation') throw error;
      // If it is no name either, that it is no conversation is what the reader has to know.
      return ask({ with: wanted }).catch((second: unknown) => {
        throw second instanceof BusError && second.code === 'unknown-agent' ? error : second;
      });
    }
  }
  if (messageId.parse(wanted) === undefined) return ask({ with: wanted });
  try {
    return await ask({ with: wanted });
  } catch (error) {
    if (!(error instanceof BusError) || error.code !== 'unknown-agent') throw error;
    const { data } = await session.client.call('conversation', { id: wanted });
    return ask({ id: data.messages[0]?.conversation });
  }
}
