import { BusError } from '../../core/errors.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { messageLines } from '../messageLines.ts';
import { optionNumber } from '../optionNumber.ts';
import { print, printJson, printLine } from '../print.ts';
import { Session } from '../session.ts';
import { statusLines } from '../statusLines.ts';
import { indented } from '../terminalText.ts';

export const show = defineCommand({
  name: 'show',
  group: 'mail',
  about: 'one message, and how far it got with each recipient',
  synopsis: 'ID',
  needs: ['ID'],
  most: 1,
  options: {
    raw: { type: 'boolean', about: "nothing but the text's own bytes" },
    offset: { type: 'string', value: 'N', about: 'begin at that character' },
  },
  details: 'With --json: the message and its receipts in one object, the text byte for byte.',
  examples: [
    ['agent-bus show m5', 'the message, and who has seen it'],
    ['agent-bus show m5 --raw > answer.md', 'the text as it was sent'],
  ],
  async run(invocation) {
    const { raw } = invocation.values;
    const id = invocation.args[0] ?? '';
    const session = await Session.open(invocation, { reconnect: true });
    const query = {
      id,
      offset: optionNumber(invocation.values.offset, 'offset', { least: 0, most: 2 ** 31, whole: true }),
    };
    // Any other id would be a whole conversation.
    if (!id.startsWith('m')) throw unknownMessage(id);
    if (session.reader === 'model' && !raw) {
      await session.tell(await session.ask('conversation', query), () => '');
      return ExitCode.ok;
    }
    const { data, shown } = await session.client.call('conversation', query);
    const message = data.messages[0];
    if (!message) throw unknownMessage(id);
    if (raw) await print(Buffer.from(message.text));
    else {
      const { data: status } = await session.client.call('status', { id });
      if (invocation.json) await printJson({ ...message, ...status });
      else await printLine(`${messageLines(message)}\n\n${indented(statusLines(status), '  ')}`);
    }
    await session.markShown(shown);
    return ExitCode.ok;
  },
});

function unknownMessage(id: string): BusError {
  return new BusError('unknown-message', `There is no message "${id.slice(0, 60)}" for you.`, {
    next: 'Use an id that inbox, conversation or send has shown, such as "m1f".',
  });
}
