import type { Bus } from '../../core/bus.ts';
import type { Store } from '../../core/ports.ts';
import type { Route } from '../httpDoor.ts';

export interface A2aRouteParts {
  bus: Bus;
  store: Store;
  version: string;
  /** Under which address this door is reached, such as http://127.0.0.1:4711; known once it is open. */
  baseUrl: () => string;
  onError: (error: unknown) => void;
}

/** The agents of this bus that are open, as A2A agents: everything below /a2a/. */
export function a2aRoute(_parts: A2aRouteParts): Route {
  return { handle: (_req, res) => void res.writeHead(404).end() };
}
