import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { codex } from '../products/codex.ts';
import type { WakeRoute } from '../wakeRoute.ts';
import { codexThread } from './codexThread.ts';

const run = promisify(execFile);

export const codexQueue: WakeRoute = {
  product: codex,
  name: 'codex queue',
  carry: async (room, text) => {
    const { program, env, cwd } = codex.interactive(room);
    await run(program, ['queue', '--thread', codexThread(room), '--message', text], { env, cwd });
  },
};
