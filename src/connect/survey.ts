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

export interface SurveyOptions {
  /** The folder of the extension, where it is known already. */
  extension?: string | undefined;
  /** There is no project to look at. */
  withoutProject?: boolean;
}

export function survey(place: Place, options: SurveyOptions = {}): ProductLine[] {
  const { extension = installedExtension(place), withoutProject = false } = options;
  return Object.values(products).map((product): ProductLine => {
    const user = connectionState({ product, place, scope: 'user' });
    const isExtended = product.name === 'vscode' && extension !== undefined;
    return {
      product,
      found: isExtended ? { installed: true, because: extension } : detect(product, place),
      user: isExtended ? { ...user, state: 'connected', files: [extension] } : user,
      project: withoutProject ? unconnected : connectionState({ product, place, scope: 'project' }),
    };
  });
}

const unconnected: ConnectionState = { state: 'no', files: [], missing: [] };

export const stateWords: Readonly<Record<ConnectionState['state'], string>> = {
  connected: 'connected',
  'without hooks': 'connected without hooks',
  partly: 'connected in part',
  no: 'not connected',
  unreadable: 'can’t be read',
};

type States = Pick<ProductLine, 'user' | 'project'>;

export function connectionWords({ user, project }: States): string {
  const own = user.state === 'no' && project.state !== 'no' ? '' : stateWords[user.state];
  const here = project.state === 'no' ? '' : `${stateWords[project.state]} in this project`;
  return [own, here].filter((part) => part !== '').join('; ');
}

/** The files that keep it from being connected as a whole. */
export function lackingFiles({ user, project }: States, voice: Voice): string[] {
  const parts = [user, project].filter(({ state }) => state === 'partly' || state === 'unreadable');
  return parts.flatMap(({ missing }) => missing.map((path) => shortPath(path, voice)));
}
