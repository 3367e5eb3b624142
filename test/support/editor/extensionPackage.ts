/** The extension as users install it, and the helper that lets tests speak to an extension host. */
import { createVSIX } from '@vscode/vsce';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

/** Built anew by the script that makes the release. AGENT_BUS_TEST_VSIX is for trying one that is there already. */
export async function extensionPackage(): Promise<string> {
  const given = process.env['AGENT_BUS_TEST_VSIX'];
  if (given) return given;
  const file = join(root, '.cache', 'agent-bus.vsix');
  const script = join(root, 'scripts', 'package.mjs');
  const child = spawn(process.execPath, [script, '--out', file], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`scripts/package.mjs ended with ${code}\n${output}`);
  return file;
}

export async function helperPackage(folder: string): Promise<string> {
  const file = join(folder, 'helper.vsix');
  const cwd = join(import.meta.dirname, 'helper');
  await createVSIX({
    cwd,
    packagePath: file,
    dependencies: false,
    allowMissingRepository: true,
    skipLicense: true,
    allowStarActivation: true,
  });
  return file;
}
