// Packages of the system, where this is a Debian and we may install. Built-in modules only: the bootstrap needs it, too.
import { spawnSync } from 'node:child_process';

const quiet = { stdio: 'ignore' };

export function mayInstallPackages() {
  return (
    process.platform === 'linux' &&
    process.getuid?.() === 0 &&
    spawnSync('apt-get', ['--version'], quiet).error === undefined
  );
}

/** @returns {boolean} whether the packages are installed now */
export function installPackages(packages, say) {
  if (!mayInstallPackages()) return false;
  say(`Installing ${packages.join(', ')} (Debian).`);
  const options = {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  const apt = (...args) => spawnSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=600', ...args], options).status === 0;
  const install = () => apt('install', '-y', '--no-install-recommends', ...packages);
  // The list of packages may be missing or old.
  return install() || (apt('update') && install());
}

/** Whether a program of this name can be started. */
export function hasProgram(name) {
  return spawnSync(name, ['--version'], quiet).error === undefined;
}
