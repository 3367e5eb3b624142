/** Copies of the hub's bundle that say they are of another version. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { hubScript } from './hubProcess.ts';

export const bundleVersion = '0.1.0';

export class HubBundle {
  readonly script: string;
  readonly version: string;
  private readonly folder: string;

  constructor(version: string) {
    this.version = version;
    this.folder = mkdtempSync(join(tmpdir(), 'agent-bus-bundle-'));
    // A build that runs meanwhile renames its drafts away.
    cpSync(dirname(hubScript), this.folder, { recursive: true, filter: (path) => !path.endsWith('.draft') });
    writeFileSync(join(this.folder, 'package.json'), '{ "type": "commonjs" }\n');
    this.script = join(this.folder, basename(hubScript));
    const text = readFileSync(this.script, 'utf8');
    const changed = text.replaceAll(`"${bundleVersion}"`, JSON.stringify(version));
    if (changed === text) throw new Error(`the bundle does not say ${bundleVersion}`);
    writeFileSync(this.script, changed);
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
