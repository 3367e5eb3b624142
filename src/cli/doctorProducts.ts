/** The products on this machine, as `agent-bus doctor` tells of them. */
import { homedir } from 'node:os';
import type { ConnectionState } from '../connect/connectionState.ts';
import type { ProductLine } from '../connect/survey.ts';
import { unheardAdvice } from '../connect/reachAdvice.ts';
import type { Trouble } from './checkup.ts';
import { visibleLine } from './terminalText.ts';

export interface ProductState {
  title: string;
  /** In a few words. */
  state: string;
  /** What the person may do. */
  hint?: string;
  /** What keeps it from working, and what the person has to do. */
  trouble?: Trouble;
}

/** Undefined for a product that is neither here nor connected. */
export function productState(
  { product, found, user, project }: ProductLine,
  heard: Record<string, string> | undefined,
): ProductState | undefined {
  const { title, name } = product;
  const connect = `agent-bus connect ${name}`;
  const broken = [user, project].find(({ state }) => state === 'unreadable');
  if (broken) {
    const todo = `correct the file there, then run ${connect}`;
    return { title, state: 'settings can’t be read', trouble: { what: missing(broken), todo } };
  }
  const [scope, best] = user.state === 'no' ? (['project', project] as const) : (['user', user] as const);
  const where = scope === 'project' ? ' in this project' : '';
  const option = scope === 'project' ? ' --project' : '';
  const absent = found.installed ? '' : '; the program itself was not found';
  switch (best.state) {
    case 'connected': {
      const isUnheard = product.hooks && heard && heard[product.agent] === undefined;
      const state = `connected${where}${absent}`;
      if (!isUnheard) return { title, state };
      if (product.review === undefined) return { title, state, hint: 'not heard of yet' };
      return { title, state, trouble: { what: 'its hooks were not heard yet', todo: unheardAdvice(product) } };
    }
    case 'without hooks':
      return { title, state: `connected${where} without hooks${absent}`, hint: `${connect}${option} adds them` };
    case 'partly': {
      const todo = `${connect}${option} completes it`;
      return {
        title,
        state: `connected${where} in part`,
        trouble: { what: `to be completed: ${missing(best)}`, todo },
      };
    }
    default:
      return found.installed ? { title, state: 'not connected', hint: `${connect} puts it on the bus` } : undefined;
  }
}

function missing(state: ConnectionState): string {
  const home = `${homedir()}/`;
  return state.missing
    .map((entry) => visibleLine(entry.startsWith(home) ? `~/${entry.slice(home.length)}` : entry, 300))
    .join('; ');
}
