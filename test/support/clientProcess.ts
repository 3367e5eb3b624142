/** A client of the bus in a process of its own, which connects when it is told to. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { clientVersion, hubScript } from './hubProcess.ts';

export type ClientReport = { pid: number; version: string; agent: string } | { error: string };

export class ClientProcess {
  private readonly process: ChildProcessByStdio<Writable, Readable, null>;
  private readonly lines: AsyncIterator<string>;

  constructor(folder: string, options: { script?: string; version?: string } = {}) {
    const busClient = new URL('../../src/client/busClient.ts', import.meta.url).href;
    const home = new URL('../../src/hub/home.ts', import.meta.url).href;
    const { script = hubScript, version = clientVersion } = options;
    const program = `
      import { createInterface } from 'node:readline';
      import { BusClient } from ${JSON.stringify(busClient)};
      import { busHome } from ${JSON.stringify(home)};
      const options = { home: busHome({ AGENT_BUS_HOME: ${JSON.stringify(folder)} }), start: true, via: 'rpc',
        hubScript: ${JSON.stringify(script)}, version: ${JSON.stringify(version)}, reconnect: true };
      let client;
      console.log('ready');
      for await (const line of createInterface({ input: process.stdin })) {
        try {
          if (line === 'connect') client = await BusClient.connect(options);
          if (line === 'close') { client?.close(); client = undefined; }
          if (client) await client.call('agents', {});
          console.log(JSON.stringify({ ...client?.hub, agent: client?.agent }));
        } catch (error) {
          console.log(JSON.stringify({ error: String(error.code ?? '') + ' ' + error.message }));
        }
      }`;
    this.process = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  async ready(): Promise<void> {
    await this.lines.next();
  }

  /** `ask` makes a call on the connection that is there, or comes back. */
  async tell(what: 'connect' | 'ask' | 'close'): Promise<ClientReport> {
    this.process.stdin.write(`${what}\n`);
    return JSON.parse(String((await this.lines.next()).value)) as ClientReport;
  }

  async end(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await exited;
  }
}
