// The hub in the foreground, by the command line that ships.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { BusClient } from '../../src/client/busClient.ts';
import { busHome } from '../../src/hub/home.ts';
import { version } from '../../src/hub/version.ts';

/** @returns {{ ended: Promise<number>, pass(signal: NodeJS.Signals): void }} */
export function startHub(root, env, args) {
  const child = spawn(process.execPath, [join(root, 'dist', 'cli.js'), 'hub', ...args], { stdio: 'inherit', env });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
  return {
    ended,
    pass: (signal) => {
      // A terminal sends Ctrl-C to the hub as well. Other signals are passed on.
      if (signal !== 'SIGINT' || (!process.stdin.isTTY && process.platform !== 'win32')) child.kill(signal);
    },
  };
}

/** Resolves once the hub answers and has had the time to introduce itself. */
export async function hubAnswers(env, signal) {
  const home = busHome(env);
  while (!signal.aborted) {
    try {
      (await BusClient.connect({ home, version, via: 'cli', start: false, passing: true })).close();
      await new Promise((resolve) => setTimeout(resolve, 250));
      return;
    } catch (error) {
      if (error.code !== 'hub-unavailable') throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** A window may have started another hub while it was being closed: in a folder that goes away, nobody needs it. */
export async function stopLeftHub(env) {
  try {
    const client = await BusClient.connect({ home: busHome(env), version, via: 'cli', start: false, passing: true });
    await client.request('stop', { reason: 'stop' });
    client.close();
  } catch {
    // There is none.
  }
}
