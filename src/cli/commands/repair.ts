import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundledHub } from '../../client/hubProcess.ts';
import { BusError } from '../../core/errors.ts';
import { defineCommand } from '../command.ts';
import { ExitCode } from '../exitCode.ts';

export const repair = defineCommand({
  name: 'repair',
  group: 'care',
  about: 'save all that can be read out of a damaged database',
  synopsis: '',
  needs: [],
  most: 0,
  options: {
    'start-empty': { type: 'boolean', about: 'if nothing can be read at all, begin with an empty one' },
  },
  details:
    'Only while no hub is running (`agent-bus stop`). The damaged files are kept beside the new ones; nothing is deleted.',
  examples: [['agent-bus stop; agent-bus repair', 'when the hub says that its database is damaged']],
  async run({ json, values, home }) {
    // A program of its own: this one never opens the database.
    const script = join(dirname(bundledHub), 'repair.js');
    if (!existsSync(script)) {
      throw new BusError('internal', `${script} is missing.`, {
        next: 'Install Agent Bus again, or build it: npm run build.',
      });
    }
    const flags = [...(json ? ['--json'] : []), ...(values['start-empty'] ? ['--start-empty'] : [])];
    const env = { ...process.env, AGENT_BUS_HOME: home.folder, ELECTRON_RUN_AS_NODE: '1' };
    const child = spawn(process.execPath, [script, ...flags], { stdio: 'inherit', env });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code === 0 ? ExitCode.ok : ExitCode.failure;
  },
});
