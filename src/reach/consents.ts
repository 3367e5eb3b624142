import type { Clock } from '../core/clock.ts';
import { BusError } from '../core/errors.ts';
import type { AgentRecord, ConsentRecord } from '../core/model.ts';
import type { Store } from '../core/ports.ts';
import type { ConsentView } from '../protocol/reachMessages.ts';

/** From where to where somebody would be woken: workspace paths, or names of agents that have none. */
export interface Pair {
  from: string;
  to: string;
}

/** What the person has decided for good about who may wake whom. */
export class Consents {
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly byPair = new Map<string, ConsentRecord>();

  constructor(store: Store, clock: Clock) {
    this.store = store;
    this.clock = clock;
    for (const consent of store.consents()) this.byPair.set(pairKey(consent), consent);
  }

  /** Undefined where nobody has to be asked: the person may, so may the bus itself and an agent of the same workspace. */
  pairOf(sender: AgentRecord, recipient: AgentRecord): Pair | undefined {
    if (sender.kind !== 'agent' || recipient.kind !== 'agent') return undefined;
    const pair = { from: sender.workspace || sender.name, to: recipient.workspace || recipient.name };
    return pair.from === pair.to ? undefined : pair;
  }

  verdict(pair: Pair): ConsentRecord['verdict'] | undefined {
    return this.byPair.get(pairKey(pair))?.verdict;
  }

  async settle(pair: Pair, verdict: ConsentRecord['verdict']): Promise<void> {
    const consent: ConsentRecord = { from: pair.from, to: pair.to, verdict, at: this.clock.now() };
    await this.store.write((tx) => tx.putConsent(consent));
    this.byPair.set(pairKey(pair), consent);
  }

  async forget(pair: Pair): Promise<void> {
    const known = await this.store.write((tx) => tx.deleteConsent(pair.from, pair.to));
    this.byPair.delete(pairKey(pair));
    if (!known) {
      throw new BusError('invalid-input', 'There is no such decision.', { next: 'Read the list of decisions again.' });
    }
  }

  list(): ConsentView[] {
    return [...this.byPair.values()].map(({ at, ...consent }) => ({ ...consent, at: new Date(at).toISOString() }));
  }
}

export function pairKey({ from, to }: Pair): string {
  return `${from}\n${to}`;
}
