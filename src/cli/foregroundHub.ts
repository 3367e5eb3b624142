import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { bundledHub, startFailure } from '../client/hubProcess.ts';
import { BusError } from '../core/errors.ts';
import type { BusHome } from '../hub/home.ts';
import type { Invocation } from './command.ts';
import { watch, type Watch } from './watch.ts';

/** Another hub was faster; that one is as good. */
const exitAlreadyRunning = 3;
const patienceMs = 15_000;

export interface HubEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A hub that lives and dies with this terminal. */
export class ForegroundHub {
  readonly ended: Promise<HubEnd>;
  private readonly child: ChildProcess;
  private readonly home: BusHome;
  private end: HubEnd | undefined;

  constructor(home: BusHome) {
    this.home = home;
    // In our own process group, so that the terminal's Ctrl-C and hang-up reach it even if we are gone.
    this.child = spawn(process.execPath, [bundledHub], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, AGENT_BUS_HOME: home.folder, ELECTRON_RUN_AS_NODE: '1' },
    });
    this.ended = once(this.child, 'exit').then(([code, signal]) => {
      this.end = { code: code as HubEnd['code'], signal: signal as HubEnd['signal'] };
      return this.end;
    });
  }

  /** Resolves when it, or one that was faster, answers. */
  async answering(invocation: Invocation): Promise<Watch> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      if (this.end && this.end.code !== exitAlreadyRunning) {
        throw startFailure(this.home, { pid: this.child.pid ?? 0, exit: { code: this.end.code } });
      }
      try {
        const watching = await watch(invocation);
        // Where another was faster, ours leaves as soon as it notices; should it find the other gone, it is the hub.
        if (this.end || this.isIn(watching)) return watching;
        watching.client.close();
      } catch (error) {
        const missing = error instanceof BusError && error.code === 'hub-unavailable';
        if (!missing || performance.now() > deadline) {
          this.kill();
          throw error;
        }
      }
      await pause(15);
    }
  }

  isIn({ client }: Watch): boolean {
    return client.hub?.pid === this.child.pid;
  }

  /** Ends it in order; the second time at once. */
  async stop({ client }: Watch): Promise<void> {
    // Ctrl-C has told it already; a signal sent to us alone has not, and Windows has no such signals.
    await client.request('stop', { reason: 'stop' }).catch(() => undefined);
    const late = setTimeout(() => this.child.kill('SIGKILL'), patienceMs);
    await this.ended;
    clearTimeout(late);
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}
