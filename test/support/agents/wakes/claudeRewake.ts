import { claude } from '../products/claude.ts';
import type { WakeRoute } from '../wakeRoute.ts';

/** A hook that runs in the background; when it ends with 2, what it wrote to stderr starts a turn. */
export const claudeRewake: WakeRoute = {
  product: claude,
  name: 'hook with asyncRewake',
  setup: (room, agent) => {
    const only = `mkdir '${room.folder}/waits' 2>/dev/null || exit 0`;
    const command = `${only}; '${room.agentBus}' wait --as ${agent} >&2; rmdir '${room.folder}/waits'; exit 2`;
    const hook = [{ hooks: [{ type: 'command', command, asyncRewake: true, timeout: 86_400 }] }];
    // The end of each turn sets it anew, also where the one before still waits: one of them has to leave.
    return { settings: { hooks: { SessionStart: hook, Stop: hook } } };
  },
};
