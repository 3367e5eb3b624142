/** How far a product is connected, as its files tell. */
import * as fs from 'node:fs';
import { decoded } from './files/configText.ts';
import { hasOurs } from './files/configEdits.ts';
import { readSwitched, withOwnSwitches } from './files/switched.ts';
import { planConnect, type PlanRequest } from './plan.ts';

export interface ConnectionState {
  /** `partly`: something of ours is there, but not all of it, or as an earlier version wrote it. */
  state: 'connected' | 'without hooks' | 'partly' | 'no' | 'unreadable';
  files: string[];
  /** What keeps it from being connected, in words. */
  missing: string[];
}

export function connectionState(request: Omit<PlanRequest, 'hooks'>): ConnectionState {
  const { product, place, scope } = request;
  const switched = readSwitched(place);
  const files = product.files(place, scope, true).map((file) => withOwnSwitches(file, switched));
  const paths = files.map(({ path }) => path);
  if (files.length === 0) return { state: 'no', files: paths, missing: [] };
  const full = planConnect({ ...request, hooks: true });
  if (full.problems.length > 0) {
    const missing = full.problems.map(
      ({ path, line, why }) => `${path}${line === undefined ? '' : `, line ${line}`}: ${why}`,
    );
    return { state: 'unreadable', files: paths, missing };
  }
  if (full.changes.length === 0) return { state: 'connected', files: paths, missing: [] };
  const bare = planConnect({ ...request, hooks: false });
  if (bare.changes.length === 0) return { state: 'without hooks', files: paths, missing: ['hooks'] };
  const isThere = files.some((file) => {
    const text = fs.existsSync(file.path) ? decoded(fs.readFileSync(file.path)).text : '';
    return hasOurs(text, product.name, file);
  });
  const missing = full.changes.map(({ path }) => path);
  return { state: isThere ? 'partly' : 'no', files: paths, missing };
}
