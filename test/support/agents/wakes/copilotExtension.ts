import { copilot } from '../products/copilot.ts';
import type { WakeRoute } from '../wakeRoute.ts';

/** Runs beside the session on Copilot's own Node; extensions are an experimental feature. */
export const copilotExtension: WakeRoute = {
  product: copilot,
  name: 'extension',
  setup: (room, agent) => {
    room.write('.copilot/settings.json', { experimental: true });
    room.write('.copilot/extensions/agent-bus/extension.mjs', extension(room.agentBus, agent));
    return {};
  },
};

const extension = (agentBus: string, agent: string) => `
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { joinSession } from '@github/copilot-sdk/extension';
const session = await joinSession({});
for (;;) {
  const { stdout } = await promisify(execFile)(${JSON.stringify(agentBus)}, ['wait', '--as', ${JSON.stringify(agent)}]);
  // In a turn: at the next tool boundary.
  await session.send({ prompt: stdout, mode: 'immediate' });
}
`;
