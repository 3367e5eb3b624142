import type { ToolInput } from '../client/toolTypes.ts';
import { BusError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Invocation } from './command.ts';
import { Session, type Answer } from './session.ts';

const pauseMs = 200;

/** The end of a wait during which the hub has gone. */
const nothing: Answer<'inbox'> = {
  data: { messages: [], unread_left: 0, waited: true },
  text: 'Nothing came yet, and the hub is not running at the moment.',
  shown: [],
};

/**
 * Waits for new mail for as long as is wanted, in calls as long as the hub allows. It outlives the hub: without one no
 * mail can come, and whoever sends some starts one, so it looks out for the next hub but starts none itself — a hub
 * that the person stopped stays stopped.
 */
export async function waitForMail(
  invocation: Invocation,
  query: ToolInput<'inbox'>,
  waitSeconds: number,
): Promise<{ session: Session; answer: Answer<'inbox'> }> {
  const deadline = performance.now() + waitSeconds * 1000;
  let session = await Session.open(invocation);
  for (;;) {
    const left = Math.max(0, (deadline - performance.now()) / 1000);
    const asked = performance.now();
    try {
      if (!session.client.hub) session = await Session.open(invocation, { start: false });
      const wait_seconds = Math.min(left, limits.waitSeconds);
      const answer = await session.ask('inbox', { ...query, filter: 'new', wait_seconds });
      if (answer.data.messages.length > 0 || performance.now() >= deadline) return { session, answer };
      // A hub that is about to stop ends waits early.
      if (performance.now() - asked < 1_000) await pause(pauseMs);
    } catch (error) {
      if (!isLost(error)) throw error;
      session.client.close();
      if (performance.now() >= deadline) return { session, answer: nothing };
      await pause(Math.min(pauseMs, Math.max(0, deadline - performance.now())));
    }
  }
}

function isLost(error: unknown): boolean {
  return error instanceof BusError && ['hub-unavailable', 'hub-stopping'].includes(error.code);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
