// `npm run package`: the extension as one file for all platforms, agent-bus-<version>.vsix. `--out FILE` puts it elsewhere.
// It is built as it ships: without source maps, without tests, without node_modules.
import { createVSIX, listFiles, PackageManager } from '@vscode/vsce';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from '../esbuild.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const { values } = parseArgs({ options: { out: { type: 'string' } } });
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const out = resolve(values.out ?? join(root, `${name}-${version}.vsix`));

await build();
mkdirSync(dirname(out), { recursive: true });
await createVSIX({
  cwd: root,
  packagePath: out,
  dependencies: false,
  allowMissingRepository: true,
  rewriteRelativeLinks: false,
});

const kilobytes = (bytes) => `${Math.ceil(bytes / 1024)} kB`.padStart(9);
const files = await listFiles({ cwd: root, packageManager: PackageManager.None });
for (const file of files.sort()) console.log(`${kilobytes(statSync(join(root, file)).size)}  ${file}`);
console.log(`${kilobytes(statSync(out).size)}  ${relative(process.cwd(), out)}, packed`);
