import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { install } from '../../../src/connect/installation.ts';
import { Launch } from '../../../src/connect/launch.ts';
import { version } from '../../../src/hub/version.ts';
import { latencyRow } from '../report.ts';
import { interleave, loop } from '../rounds.ts';
import { ratio } from '../statistics.ts';
import { BenchHub, benchHome } from '../support/benchHub.ts';
import type { Scenario } from './scenario.ts';

const bar = 1.5;

/**
 * What every tool call of an agent waits for: the very line that `connect` writes into Claude Code's settings, run by a shell
 * as that does, with a hub that has heard of the tool before it ends and has nothing new. Beside it, node that does nothing.
 */
export const hookProcess: Scenario = {
  names: ['hook'],

  async run(options) {
    await using owned = new AsyncDisposableStack();
    const hub = await BenchHub.start(options, benchHome('hook'));
    owned.defer(() => hub.stop());
    const { home } = hub;
    const { bin } = await install({ from: dirname(options.hubScript), version, home, runtime: process.execPath });
    const line = new Launch(bin).shell('hook', 'claude', 'PostToolUse');
    const event = JSON.stringify({ session_id: 'bench', cwd: home.folder, tool_name: 'Read', tool_use_id: 'one' });
    const run = async (program: string, args: string[], input: string): Promise<void> => {
      const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'inherit'] });
      child.stdin.on('error', () => undefined).end(input);
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}`);
    };
    const probes = [
      loop('floor_node', 1, () => run(process.execPath, ['-e', '0'], '')),
      loop('hook', 1, () => run('sh', ['-c', line], event)),
    ];
    // Short windows, so that the two take turns often: what else the machine does changes by the second.
    const of = await interleave(probes, { rounds: options.quick ? 12 : 40, ms: 250, warmMs: 300 });
    const slower = ratio(of('hook').p50s, of('floor_node').p50s);
    const judged = { ratio: slower, against: 'node -e 0', bar: `≤ ${bar} ×`, met: slower <= bar };
    return [latencyRow('floor_node', of('floor_node')), latencyRow('hook', of('hook'), judged)];
  },
};
