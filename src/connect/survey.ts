/** Every product that can be connected: whether it is on this machine, and how far it is on the bus. */
import { connectionState, type ConnectionState } from './connectionState.ts';
import { shortPath, type Voice } from './connectReport.ts';
import { detect, installedExtension, type Detected } from './detect.ts';
import type { Place, Product } from './products/product.ts';
import { products } from './products/table.ts';

export interface ProductLine {
  product: Product;
  found: Detected;
  user: ConnectionState;
  project: ConnectionState;
}

/** @param extension the folder of the extension, where it is known already */
export function survey(place: Place, extension = installedExtension(place)): ProductLine[] {
  return Object.values(products).map((product): ProductLine => {
    const user = connectionState({ product, place, scope: 'user' });
    const isExtended = product.name === 'vscode' && extension !== undefined;
    return {
      product,
      found: detect(product, place),
      user: isExtended ? { ...user, state: 'connected', files: [extension] } : user,
      project: connectionState({ product, place, scope: 'project' }),
    };
  });
}

export const stateWords: Readonly<Record<ConnectionState['state'], string>> = {
  connected: 'connected',
  'without hooks': 'connected without hooks',
  partly: 'connected in part',
  no: 'not connected',
  unreadable: 'can’t be read',
};

/** How far a product is connected, and what keeps it from being so. */
export function connectionWords({ user, project }: Pick<ProductLine, 'user' | 'project'>, voice: Voice): string {
  const own = user.state === 'no' && project.state !== 'no' ? '' : stateWords[user.state];
  const here = project.state === 'no' ? '' : `${stateWords[project.state]} in this project`;
  const said = [own, here].filter((part) => part !== '').join('; ');
  const parts = [user, project].filter(({ state }) => state === 'partly' || state === 'unreadable');
  const lacking = parts.flatMap(({ missing }) => missing.map((path) => shortPath(path, voice)));
  return lacking.length > 0 ? `${said} (${lacking.join(', ')})` : said;
}
