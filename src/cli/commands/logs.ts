import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { readLog, type LogLine } from '../../hub/log.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { optionNumber } from '../optionNumber.ts';
import { printJson, printLine } from '../print.ts';
import { visibleLine } from '../terminalText.ts';

const pollMs = 250;
/** As much as can be written between two looks, and more. */
const lookBack = 5_000;

export const logs = defineCommand({
  name: 'logs',
  group: 'care',
  about: "the hub's log; it holds no message text and no secrets",
  synopsis: '',
  needs: [],
  most: 0,
  options: {
    lines: { type: 'string', short: 'n', value: 'N', about: 'the last so many lines (50 unless told)' },
    follow: { type: 'boolean', short: 'f', about: 'go on with what comes, until Ctrl-C' },
  },
  details: 'Needs no running hub. With --json: {"lines":[…]}; with --follow as well, one JSON object a line.',
  examples: [
    ['agent-bus logs', 'the last 50 lines'],
    ['agent-bus logs -n 200 --json', 'for a script'],
    ['agent-bus logs --follow', 'watch it'],
  ],
  async run({ values, json, home }) {
    const count = optionNumber(values.lines, 'lines', { least: 0, most: 1_000_000, whole: true }) ?? 50;
    const found = readLog(home.log, { lines: count });
    if (!values.follow) {
      if (json) await printJson({ lines: found });
      else await printLine(found.length > 0 ? found.map(logLine).join('\n') : `There is no log yet: ${home.log}`);
      return ExitCode.ok;
    }
    const tell = (line: LogLine): Promise<void> => (json ? printJson(line) : printLine(logLine(line)));
    for (const line of found) await tell(line);
    return follow(home.log, tell);
  },
});

/** Looks again whenever the file has changed; a rotation in between is no trouble, since the reading spans the files. */
async function follow(path: string, tell: (line: LogLine) => Promise<void>): Promise<never> {
  let last = JSON.stringify(readLog(path, { lines: 1 })[0]);
  let stamp = stampOf(path);
  for (;;) {
    await pause(pollMs);
    const now = stampOf(path);
    if (now === stamp) continue;
    stamp = now;
    const lines = readLog(path, { lines: lookBack });
    const known = lines.findLastIndex((line) => JSON.stringify(line) === last);
    for (const line of lines.slice(known + 1)) await tell(line);
    last = JSON.stringify(lines.at(-1));
  }
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : '';
}

function logLine({ at, level, event, ...fields }: LogLine): string {
  const details = Object.entries(fields).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${name}=${text}`;
  });
  return visibleLine(`${at}  ${level.padEnd(5)}  ${event}  ${details.join('  ')}`, 2_000);
}
