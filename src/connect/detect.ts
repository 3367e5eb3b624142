/** Whether a product is on this machine, as far as files tell: it is never started for that. */
import * as fs from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Place, Product } from './products/product.ts';

export interface Detected {
  installed: boolean;
  /** How we know. */
  because: string | undefined;
}

export function detect(product: Product, place: Place): Detected {
  for (const program of product.programs) {
    const path = onPath(program, place.env);
    if (path !== undefined) return { installed: true, because: path };
  }
  const folder = product.folder(place);
  return fs.existsSync(folder) ? { installed: true, because: folder } : { installed: false, because: undefined };
}

/** The folder of the extension in VS Code, if it is installed there. */
export function installedExtension({ home }: Place): string | undefined {
  for (const editor of ['.vscode', '.vscode-insiders', '.vscode-server', join('.local', 'share', 'code-server')]) {
    const folder = join(home, editor, 'extensions');
    const found =
      fs.existsSync(folder) && fs.readdirSync(folder).find((name) => name.startsWith('agent-bus.agent-bus-'));
    if (found) return join(folder, found);
  }
  return undefined;
}

export function onPath(program: string, env: Place['env']): string | undefined {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.ps1'] : [''];
  for (const folder of (env['PATH'] ?? env['Path'] ?? '').split(delimiter)) {
    if (folder === '') continue;
    for (const ending of endings) {
      const path = join(folder, program + ending);
      try {
        fs.accessSync(path, fs.constants.X_OK);
        if (fs.statSync(path).isFile()) return path;
      } catch {
        // Not here.
      }
    }
  }
  return undefined;
}
