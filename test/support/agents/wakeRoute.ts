import type { Product, Setup } from './agentProduct.ts';
import type { AgentRoom } from './agentRoom.ts';
import type { Step } from './modelWire.ts';

/**
 * One way to start a turn in a session that waits for its person, shown with nothing but the product's own means and
 * `agent-bus wait`, which ends when there is mail. Some begin by themselves, some have to be begun by the model after
 * each turn.
 */
export interface WakeRoute {
  product: Product;
  name: string;
  /** What has to be in the product's configuration. */
  setup?(room: AgentRoom, agent: string): Setup;
  /** What the model does so that it is woken later. */
  wait?(room: AgentRoom, agent: string): Step;
}
