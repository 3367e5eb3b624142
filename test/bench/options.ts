import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const root = resolve(import.meta.dirname, '..', '..');

export interface Options {
  quick: boolean;
  /** Where the figures go as JSON. */
  json: string | undefined;
  /** Another hub than the built one. */
  hubScript: string;
  /** A folder for CPU profiles of every hub that is started. */
  profile: string | undefined;
  /** Whether a scenario was asked for; all are if none was named. `inbox_page` also means all its sizes. */
  wants: (name: string) => boolean;
}

export const usage = `npm run bench -- [--quick] [--json FILE] [--only NAME,...] [--hub FILE] [--profile FOLDER]`;

export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      only: { type: 'string' },
      hub: { type: 'string', default: join(root, 'dist', 'hub.js') },
      profile: { type: 'string' },
    },
  });
  const only = values.only?.split(',').map((name) => name.trim());
  return {
    quick: values.quick,
    json: values.json,
    hubScript: resolve(values.hub),
    profile: values.profile === undefined ? undefined : resolve(values.profile),
    wants: (name) => !only || only.some((wanted) => name === wanted || isSizeOf(name, wanted)),
  };
}

function isSizeOf(name: string, scenario: string): boolean {
  return name.startsWith(`${scenario}_`) && /^(1k|100k|1m|rpc|mcp)/.test(name.slice(scenario.length + 1));
}
