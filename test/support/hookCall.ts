import type { BusClient } from '../../src/client/busClient.ts';
import type { HookParams, HookResult } from '../../src/protocol/reachMessages.ts';

/** One hook over a connection of its own, as the process that a product starts for it does: what it is given, it shows. */
export async function hookCall(client: BusClient, params: HookParams): Promise<HookResult & { agent: string }> {
  const answer = await client.request('hook', params);
  if (answer.shown.length > 0) {
    client.shown(answer.shown, 'hook');
    await client.request('presence', { state: 'idle' });
  }
  return { ...answer, agent: client.agent };
}
