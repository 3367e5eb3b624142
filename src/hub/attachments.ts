import type { Bus } from '../core/bus.ts';
import { BusError } from '../core/errors.ts';
import type { AgentRecord } from '../core/model.ts';
import { suggestName } from '../core/names.ts';
import { folderName } from '../core/views.ts';

/**
 * Which agent a product is in a workspace. The first session of a product in a folder is always the same agent, the
 * second one at the same time another, and so on: each takes the lowest place that nobody is in.
 */
export class Attachments {
  private readonly bus: Bus;
  /** Places given out to sessions that have not shown up in presence yet. */
  private readonly promised = new Set<string>();

  constructor(bus: Bus) {
    this.bus = bus;
  }

  async attach(workspace: string, product: string, name: string | undefined): Promise<number> {
    if (name !== undefined) return this.named(workspace, product, name);
    for (let place = 0; ; place++) {
      const identity = identityOf(workspace, product, place);
      const known = this.bus.roster.byIdentity(identity);
      if (this.promised.has(identity) || (known && this.bus.presence.isConnected(known.id))) continue;
      this.promised.add(identity);
      try {
        return (await this.at(workspace, product, place)).id;
      } finally {
        // By then the session has logged in, and presence keeps the place.
        setImmediate(() => this.promised.delete(identity));
      }
    }
  }

  /** The agent of a place, made on first use. */
  async at(workspace: string, product: string, place: number): Promise<AgentRecord> {
    const { roster } = this.bus;
    const identity = identityOf(workspace, product, place);
    const kind = suggestName(product);
    const base = `${suggestName(folderName(workspace) || 'home').slice(0, 28)}-${kind}`;
    return roster.byIdentity(identity) ?? roster.createNear(base, { workspace, product: kind, identity });
  }

  private async named(workspace: string, product: string, name: string): Promise<number> {
    const { roster } = this.bus;
    const known = roster.find(name);
    if (known?.kind === 'person') {
      throw new BusError('forbidden', 'A program can’t be the person.', {
        next: 'Choose another name for this agent.',
      });
    }
    if (known?.kind === 'bus') roster.require(name);
    if (!known) return (await roster.create({ name, workspace, product })).id;
    await roster.revive(known);
    return known.id;
  }
}

function identityOf(workspace: string, product: string, place: number): string {
  return `${workspace}\n${suggestName(product)}\n${place}`;
}
