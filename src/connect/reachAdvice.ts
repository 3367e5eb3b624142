/** What the person can do about hooks that were not heard: the files of the product know more than the hub does. */
import type { AgentReach, ReachWay } from '../protocol/reachMessages.ts';
import type { ConnectionState } from './connectionState.ts';
import type { Product } from './products/product.ts';

export interface Connections {
  product: Product;
  user: Pick<ConnectionState, 'state'>;
  /** Undefined where the agent is in another project than the one that was looked at. */
  project: Pick<ConnectionState, 'state'> | undefined;
  /** Hooks were heard of other sessions of the product. */
  heard?: boolean;
}

/** The report, with what to do wherever hooks are missing. */
export function withAdvice(reach: AgentReach, known: Connections | undefined): AgentReach {
  if (reach.hooks || reach.state === 'gone' || !known?.product.hooks) return reach;
  const todo = hookAdvice(known);
  const advised = (way: ReachWay): ReachWay => (isAboutHooks(way) ? { ...way, todo } : way);
  return { ...reach, now: advised(reach.now), busy: advised(reach.busy), end_of_turn: advised(reach.end_of_turn) };
}

function isAboutHooks({ blocked, todo }: ReachWay): boolean {
  return blocked !== undefined && todo === undefined && /\bhook\b/.test(blocked);
}

/** For a product that is connected, hooks included. */
export function unheardAdvice({ title, review, unheard }: Product): string {
  if (review !== undefined) return `${title} has not run a hook of the bus yet: ${review}`;
  return unheard ?? 'the hooks are set up: start it again, or give it a prompt';
}

function hookAdvice({ product, user, project, heard }: Connections): string {
  const states = [user.state, project?.state];
  const again = `agent-bus connect ${product.name}`;
  if (states.includes('connected'))
    return heard ? 'start it again: other sessions run their hooks' : unheardAdvice(product);
  if (states.includes('unreadable')) return `its settings can’t be read: ${again} says where`;
  if (states.includes('without hooks')) return `it is connected without hooks: ${again} adds them`;
  if (project === undefined) return `agent-bus connect, in its folder, tells whether its hooks are set up`;
  if (product.name === 'vscode') return 'install the extension Agent Bus in VS Code';
  return `${again}, then start it again`;
}
