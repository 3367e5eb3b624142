import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { askAndTell } from '../session.ts';
import { statusLines } from '../statusLines.ts';

export const cancel = defineCommand({
  name: 'cancel',
  group: 'mail',
  about: 'end your own request that nobody has answered yet',
  synopsis: 'ID',
  needs: ['ID'],
  most: 1,
  options: {},
  examples: [['agent-bus cancel m5', 'no answer needed any more']],
  async run(invocation) {
    await askAndTell(invocation, 'status', { id: invocation.args[0] ?? '', cancel: true }, statusLines);
    return ExitCode.ok;
  },
});
