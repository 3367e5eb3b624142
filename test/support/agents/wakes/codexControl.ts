import { join } from 'node:path';
import { codex } from '../products/codex.ts';
import type { WakeRoute } from '../wakeRoute.ts';
import { CodexSocket } from './codexSocket.ts';
import { codexThread } from './codexThread.ts';

export const codexControl: WakeRoute = {
  product: codex,
  name: 'control socket',
  carry: async (room, text) => {
    const socket = await CodexSocket.open(join(room.home, '.codex', 'app-server-control', 'app-server-control.sock'));
    try {
      // A turn that runs is steered by it, an idle session begins one.
      await socket.ask('turn/start', { threadId: codexThread(room), input: [{ type: 'text', text }] });
    } finally {
      socket.close();
    }
  },
};
