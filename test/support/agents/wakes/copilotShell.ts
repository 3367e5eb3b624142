import { copilot } from '../products/copilot.ts';
import type { WakeRoute } from '../wakeRoute.ts';

/** The end of a command that the model left running starts a turn, with its output. */
export const copilotShell: WakeRoute = {
  product: copilot,
  name: 'asynchronous shell command',
  wait: (room, agent) => ({
    call: 'bash',
    with: { command: `${room.agentBus} wait --as ${agent}`, description: 'wait for mail', mode: 'async' },
  }),
};
