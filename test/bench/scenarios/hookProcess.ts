import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { latencyRow } from '../report.ts';
import { interleave, loop } from '../rounds.ts';
import { ratio } from '../statistics.ts';
import { BenchHub, benchHome } from '../support/benchHub.ts';
import type { Scenario } from './scenario.ts';

/** What every tool call of an agent waits for: one `agent-bus hook` that finds nothing new, as a process. */
export const hookProcess: Scenario = {
  names: ['hook_process'],

  async run(options) {
    await using owned = new AsyncDisposableStack();
    const hub = await BenchHub.start(options, benchHome('hook'));
    owned.defer(() => hub.stop());
    const env = { ...process.env, AGENT_BUS_HOME: hub.home.folder };
    const cli = join(dirname(options.hubScript), 'cli.js');
    const event = JSON.stringify({ session_id: 'bench', cwd: hub.home.folder, tool_name: 'read', tool_use_id: 'one' });
    const run = async (args: string[]): Promise<void> => {
      const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'inherit'] });
      child.stdin.on('error', () => undefined).end(event);
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
    };
    const probes = [
      loop('floor_node', 1, () => run(['-e', '0'])),
      loop('hook_process', 1, () => run([cli, 'hook', 'PostToolUse'])),
    ];
    const of = await interleave(probes, { rounds: options.quick ? 4 : 10, ms: 1_000, warmMs: 300 });
    const slower = ratio(of('hook_process').p50s, of('floor_node').p50s);
    const judged = { ratio: slower, against: 'node -e 0', bar: '≤ 3 ×', met: slower <= 3 };
    return [latencyRow('floor_node', of('floor_node')), latencyRow('hook_process', of('hook_process'), judged)];
  },
};
