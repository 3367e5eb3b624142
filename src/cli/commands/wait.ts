import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';
import { inboxLines } from '../inboxLines.ts';
import { seconds } from '../optionNumber.ts';
import { waitAsHook, waitForSession } from '../waitForWake.ts';
import { waitForMail } from '../waitForMail.ts';

export const wait = defineCommand({
  name: 'wait',
  group: 'mail',
  about: 'end as soon as there is new mail, and print it',
  synopsis: '',
  needs: [],
  most: 0,
  options: {
    timeout: { type: 'string', value: 'SECONDS', about: 'give up then, with exit code 3 (without it: never)' },
    from: { type: 'string', value: 'NAME', about: 'only mail from that agent' },
    peek: { type: 'boolean', about: 'leave it unread' },
    session: { type: 'string', value: 'ID', about: 'end when that session of a product is to be woken, and say why' },
    product: { type: 'string', value: 'NAME', about: 'with --session: whose it is' },
    lines: { type: 'boolean', about: 'with --session: wait on and on, for a program that reads lines of JSON' },
    hook: { type: 'string', value: 'PRODUCT', about: 'as a hook of that product in the background (claude)' },
  },
  details:
    'Meant to be left running in the background by an agent, as its own wake-up call: it costs nothing while it waits,\n' +
    'outlives restarts of the hub, and what it prints is safe for a model to read. Mail that is there already ends it at once.\n' +
    'With --session or --hook it is the hub that ends it, when that session is idle and may be woken; what is told then\n' +
    'counts as shown only when the session has proved it.',
  examples: [
    ['agent-bus wait --as alice', 'until alice has mail'],
    ['agent-bus wait --as alice --from bob --timeout 600', 'ten minutes at most, for mail from bob'],
  ],
  async run(invocation) {
    const { timeout, from, peek, session: chat, product, lines = false, hook } = invocation.values;
    if (hook !== undefined) return waitAsHook(hook, invocation.home);
    if (chat !== undefined) return waitForSession({ session: chat, product, lines }, invocation.home);
    const { session, answer } = await waitForMail(invocation, { from }, seconds(timeout, 'timeout') ?? Infinity);
    await session.tell(answer, inboxLines, { peek });
    return answer.data.messages.length > 0 ? ExitCode.ok : ExitCode.nothing;
  },
});
