import { checkup } from '../checkup.ts';
import { defineCommand } from '../command.ts';
import { doctorJson } from '../doctorJson.ts';
import { doctorLines, findings } from '../doctorLines.ts';
import { ExitCode } from '../exitCode.ts';
import { printJson, printLine } from '../print.ts';

export const doctor = defineCommand({
  name: 'doctor',
  group: 'care',
  about: 'is everything in order, and can each agent be reached now: how, what is in the way, what to do',
  synopsis: '[AGENT]',
  needs: [],
  most: 1,
  options: { all: { type: 'boolean', about: 'also agents that have not been seen for a week' } },
  details: [
    'It only looks: no hub is started and nothing is changed. Named are ways that were seen to be there: a hook that was',
    'heard, somebody connected who can wake that agent. With AGENT: that one in full, with what each word means.',
    '',
    '  while busy   in the middle of its work: next tool call (a hook of its product takes messages along), or next bus',
    '               call (with the result of the next tool of the bus that it calls)',
    '  end of turn  before it ends (a hook holds the turn up, once, for requests that wait), or right after it',
    '  while idle   what wakes it: a waiting call, a new chat turn in VS Code, a route of its product, a typed line',
  ].join('\n'),
  examples: [
    ['agent-bus doctor', 'one screen; exit code 7 if something needs you, 4 if no hub is running'],
    ['agent-bus doctor shop-api-claude', 'one agent, in full'],
    ['agent-bus doctor --json', '{"ok":…,"findings":[…],"hub":{…},"products":[…],"agents":[…]}'],
  ],
  async run(invocation) {
    const { json, values, args } = invocation;
    const [agent] = args;
    const found = await checkup(invocation, agent);
    if (json) await printJson(doctorJson(found));
    else await printLine(doctorLines(found, { all: values.all ?? false, now: Date.now(), ...(agent && { agent }) }));
    if (!found.hub) return ExitCode.notRunning;
    return findings(found).length === 0 ? ExitCode.ok : ExitCode.attention;
  },
});
