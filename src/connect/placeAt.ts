import { homedir } from 'node:os';
import { Launch } from './launch.ts';
import type { Place } from './products/product.ts';

/** @param bin the folder of the stable launcher */
export function placeAt(project: string, bin: string, env: Place['env'] = process.env): Place {
  const home = env[process.platform === 'win32' ? 'USERPROFILE' : 'HOME'] || homedir();
  return { home, project, env, launch: new Launch(bin) };
}
