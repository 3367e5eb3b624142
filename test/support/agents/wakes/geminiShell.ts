import { gemini } from '../products/gemini.ts';
import type { WakeRoute } from '../wakeRoute.ts';

/** As Copilot's, where the person has switched on both of these. What arrives looks like words of the person. */
export const geminiShell: WakeRoute = {
  product: gemini,
  name: 'background shell command',
  setup: () => ({
    settings: {
      experimental: { modelSteering: true },
      tools: { shell: { backgroundCompletionBehavior: 'inject' } },
    },
  }),
  wait: (room, agent) => ({
    call: 'run_shell_command',
    with: { command: `${room.agentBus} wait --as ${agent}`, description: 'wait for mail', is_background: true },
  }),
};
