import type { Checkup } from './checkup.ts';
import { findings } from './doctorLines.ts';

/** The same for a program. */
export function doctorJson(found: Checkup): object {
  const { version, home, hub, away, databaseBytes, products, agents } = found;
  const list = findings(found);
  return {
    ok: list.length === 0,
    findings: list,
    version,
    home: home.folder,
    hub: hub ? { running: true, ...hub } : { running: false, ...away },
    database: { bytes: databaseBytes ?? null },
    products: products.map(({ product: { name, title }, found: { installed }, user, project }) => {
      return { name, title, installed, user, project };
    }),
    agents: agents ?? null,
  };
}
