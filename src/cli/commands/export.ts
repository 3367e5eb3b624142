import { resolve } from 'node:path';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { printJson, printLine } from '../print.ts';
import { Session } from '../session.ts';

export const exportCommand = defineCommand({
  name: 'export',
  group: 'care',
  about: 'back up the whole bus into one file, while it runs',
  synopsis: 'FILE',
  needs: ['FILE'],
  most: 1,
  options: {},
  details:
    'FILE becomes an SQLite database of its own; nothing is overwritten. To go back to it: stop the hub and put it in place of bus.db.',
  examples: [['agent-bus export backup.db', 'a consistent copy of all messages']],
  async run(invocation) {
    const { client } = await Session.open(invocation);
    const result = await client.request('export', { path: resolve(invocation.args[0] ?? '') });
    if (invocation.json) await printJson(result);
    else await printLine(`${result.path}: ${result.bytes} bytes.`);
    return ExitCode.ok;
  },
});
