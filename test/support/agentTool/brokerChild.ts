/** A client of the broker in a process of its own, which can be stopped and killed at any moment of its call. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export class BrokerChild {
  private readonly process: ChildProcess;
  private readonly exited: Promise<unknown>;

  private constructor(process: ChildProcess) {
    this.process = process;
    this.exited = once(process, 'exit');
  }

  /** Has sent its request when this resolves; then it reads nothing until it is killed. */
  static async asking(port: number, request: object, shut?: 'half-close'): Promise<BrokerChild> {
    const program = `
      const socket = require('node:net').connect({ port: ${port}, host: '127.0.0.1', allowHalfOpen: true });
      socket.pause();
      socket.write(${JSON.stringify(`${JSON.stringify(request)}\n`)}, () => {
        ${shut ? 'socket.end();' : ''}
        process.stdout.write('asked');
      });
      setInterval(() => {}, 1000);`;
    const child = new BrokerChild(spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] }));
    await once(child.process.stdout ?? child.process, 'data');
    return child;
  }

  /** From now on what is sent to it stays in its system's hands. */
  freeze(): void {
    this.process.kill('SIGSTOP');
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }
}
