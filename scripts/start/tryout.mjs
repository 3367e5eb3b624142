// A folder for one run: copies of the sample projects, a profile for VS Code, and a bus of its own if it needs one.
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const settings = {
  // The README says what to try.
  'workbench.startupEditor': 'readme',
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
};

/** @typedef {{ folder: string, home: string, profile: string, extensions: string, projects: string[], remove(): void }} Tryout */

/** @returns {Tryout} */
export function makeTryout(root) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agent-bus-tryout-')));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  try {
    const projects = ['shop-api', 'shop-web'].map((name) => join(folder, name));
    for (const project of projects)
      cpSync(join(root, 'samples', project.slice(folder.length + 1)), project, { recursive: true });
    const home = join(folder, 'bus');
    mkdirSync(home, { mode: 0o700 });
    const profile = join(folder, 'profile');
    mkdirSync(join(profile, 'User'), { recursive: true });
    writeFileSync(join(profile, 'User', 'settings.json'), `${JSON.stringify(settings, null, 2)}\n`);
    // Otherwise code-server makes one in the user's own configuration.
    writeFileSync(join(folder, 'code-server.yaml'), 'auth: none\n');
    const extensions = join(folder, 'extensions');
    mkdirSync(extensions);
    return { folder, home, profile, extensions, projects, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
