import { fence } from '../../../src/core/envelope.ts';
import type { MessageView } from '../../../src/core/model.ts';
import { newsText } from '../../../src/core/news.ts';
import { stopReason, wakePrompt } from '../../../src/core/wakePrompt.ts';
import { tokensAtMost } from '../../support/tokens.ts';
import type { Scenario } from './scenario.ts';

const most = 150;
const reader = 'shop-api-copilot';
const message: MessageView = {
  id: 'm1f',
  conversation: 'c2',
  from: 'shop-web-copilot',
  workspace: 'shop-web',
  to: [reader],
  kind: 'request',
  text: 'What does GET /orders return when there are none?',
  sent_at: '2026-01-01T00:00:00.000Z',
};

/** What an agent pays for a message beyond the message itself, by the dearest way that it is delivered. */
export const messageTokens: Scenario = {
  names: ['message_tokens'],

  run() {
    const ways = {
      'a turn of its own': wakePrompt(reader, [message], `wake-${'x7Qf9ZkLw2_bTn4VsYp-0R'}`, 0).text,
      'the end of a turn': stopReason(reader, [message], 0).text,
      'news at a tool': newsText([fence(message, { brief: true })], 0),
    };
    const costs = Object.entries(ways).map(
      ([way, text]) => [way, tokensAtMost(text) - tokensAtMost(message.text)] as const,
    );
    const dearest = Math.max(...costs.map(([, tokens]) => tokens));
    return Promise.resolve([
      {
        name: 'message_tokens',
        p50: null,
        p95: null,
        ops: null,
        spread: null,
        ratio: dearest / most,
        against: `${most} tokens`,
        bar: `≤ ${most}`,
        met: dearest <= most,
        note: `${costs.map(([way, tokens]) => `${way} ${tokens}`).join(', ')} (at 3.2 characters each)`,
      },
    ]);
  },
};
