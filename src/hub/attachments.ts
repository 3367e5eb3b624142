import type { Bus } from '../core/bus.ts';
import { BusError } from '../core/errors.ts';
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
    const { roster } = this.bus;
    if (name !== undefined) {
      const known = roster.find(name);
      if (known?.kind === 'person') {
        throw new BusError('forbidden', 'A program can’t be the person.', {
          next: 'Choose another name for this agent.',
        });
      }
      if (known) {
        await roster.revive(known);
        return known.id;
      }
      return (await roster.create({ name, workspace, product })).id;
    }
    const kind = suggestName(product);
    for (let place = 0; ; place++) {
      const identity = `${workspace}\n${kind}\n${place}`;
      const known = roster.byIdentity(identity);
      if (this.promised.has(identity) || (known && this.bus.presence.isConnected(known.id))) continue;
      this.promised.add(identity);
      try {
        if (known) return known.id;
        const base = `${suggestName(folderName(workspace) || 'home').slice(0, 28)}-${kind}`;
        return (await roster.createNear(base, { workspace, product: kind, identity })).id;
      } finally {
        // By then the session has logged in, and presence keeps the place.
        setImmediate(() => this.promised.delete(identity));
      }
    }
  }
}
