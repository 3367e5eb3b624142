/** How fast it is, beside the least that such a thing can take on this machine. `npm run bench -- --quick` */
import { existsSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { readOptions, usage, type Options } from './options.ts';
import { printTable, printVerdict, writeJson, type Row } from './report.ts';
import { agentWakes } from './scenarios/agentWakes.ts';
import { doors } from './scenarios/doors.ts';
import { editor } from './scenarios/editor.ts';
import { hookProcess } from './scenarios/hookProcess.ts';
import { hubReady } from './scenarios/hubReady.ts';
import { idleWaits } from './scenarios/idleWaits.ts';
import { latency } from './scenarios/latency.ts';
import { mcp } from './scenarios/mcp.ts';
import { messageTokens } from './scenarios/messageTokens.ts';
import { scale } from './scenarios/scale.ts';
import { throughput } from './scenarios/throughput.ts';
import { toolsList } from './scenarios/toolsList.ts';

const scenarios = [
  latency,
  throughput,
  mcp,
  scale,
  idleWaits,
  hubReady,
  toolsList,
  doors,
  hookProcess,
  messageTokens,
  editor,
  agentWakes,
];

let options: Options;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${(error as Error).message}\n${usage}`);
  process.exit(2);
}
if (!existsSync(options.hubScript)) {
  console.error(`There is no ${options.hubScript}: build it first (npm run build).`);
  process.exit(2);
}

const chosen = scenarios.filter(({ names }) => names.some(options.wants));
if (chosen.length === 0) {
  console.error(`There is no such scenario. There are: ${scenarios.flatMap(({ names }) => names).join(', ')}.`);
  process.exit(2);
}

const began = performance.now();
const rows: Row[] = [];
console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)} at the start.`,
);
for (const scenario of chosen) {
  const started = performance.now();
  console.log(`${scenario.names.filter(options.wants).join(', ')} …`);
  rows.push(...(await scenario.run(options)));
  console.log(`  ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
console.log(
  `\nIn ${Math.round((performance.now() - began) / 1000)} s; medians over interleaved rounds; spread is half the range of the rounds.\n`,
);
printTable(rows);
printVerdict(rows);
if (options.json !== undefined) writeJson(options.json, rows);
// A bar that is missed is for people to judge, since machines are noisy: only a crash is a failure.
process.exit(0);
