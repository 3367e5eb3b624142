/** Who plays in the demo. Workspaces are the two sample projects; names are what products would be given there. */
import { join, resolve } from 'node:path';

export type Role = 'api' | 'web' | 'claude' | 'codex' | 'bot';

export interface Part {
  name: string;
  product: string;
  workspace: 'shop-api' | 'shop-web';
  about: string;
}

export const cast: Record<Role, Part> = {
  api: {
    name: 'shop-api-copilot',
    product: 'copilot',
    workspace: 'shop-api',
    about: 'Copilot in the shop-api window; knows the orders API.',
  },
  web: {
    name: 'shop-web-copilot',
    product: 'copilot',
    workspace: 'shop-web',
    about: 'Copilot in the shop-web window; works on the page of orders.',
  },
  claude: {
    name: 'shop-api-claude',
    product: 'claude',
    workspace: 'shop-api',
    about: 'Claude Code in a terminal; moves the orders to the new schema.',
  },
  codex: {
    name: 'shop-web-codex',
    product: 'codex',
    workspace: 'shop-web',
    about: 'Codex in a terminal; end-to-end tests of the shop.',
  },
  bot: {
    name: 'release-bot',
    product: 'script',
    workspace: 'shop-api',
    about: 'A script in CI; runs the release train.',
  },
};

/** Where the sample projects are, unless somebody works on copies of them. */
export const samples = resolve(import.meta.dirname, '..', '..', 'samples');

export function workspaceOf(part: Part, folder: string): string {
  return join(folder, part.workspace);
}
