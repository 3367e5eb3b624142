import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { askAndTell } from '../session.ts';
import { statusLines, tellLine } from '../statusLines.ts';
import { usageError } from '../usageError.ts';

export const tell = defineCommand({
  name: 'tell',
  group: 'mail',
  about: 'get one notice when an agent is idle, or when a request has ended',
  synopsis: '',
  needs: [],
  most: 0,
  options: {
    idle: { type: 'string', value: 'NAME', about: 'when that agent is idle' },
    ended: { type: 'string', value: 'ID', about: 'when that request is answered, or over' },
    off: { type: 'boolean', about: 'do not tell me any more' },
  },
  details:
    'The notice comes to your inbox, once; `agent-bus wait` waits for it. What is so already is said at once. Without an\n' +
    'option it lists what you will be told. A wish lapses after a day, with a notice.',
  examples: [
    ['agent-bus tell --idle shop-api-claude', 'when it has finished what it is at'],
    ['agent-bus tell --ended m5', 'when somebody has answered m5'],
    ['agent-bus tell --idle shop-api-claude --off', 'never mind'],
  ],
  async run(invocation) {
    const { idle, ended, off } = invocation.values;
    if (idle !== undefined && ended !== undefined)
      throw usageError('--idle and --ended are two wishes.', 'Give one of them, then the other.');
    if (idle === undefined && ended === undefined) {
      if (off) throw usageError('--off needs to know what about.', 'Give --idle NAME or --ended ID with it.');
      await askAndTell(invocation, 'status', { limit: 1 }, (status) => {
        const tells = 'requests' in status ? (status.tells ?? []) : [];
        return tells.length > 0 ? tells.map(tellLine).join('\n') : 'Nothing to be told.';
      });
      return ExitCode.ok;
    }
    const about = idle === undefined ? { id: ended } : { agent: idle };
    await askAndTell(invocation, 'status', { ...about, tell: off !== true }, statusLines);
    return ExitCode.ok;
  },
});
