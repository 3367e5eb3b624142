import { BusError, errorShape, type ErrorShape } from '../../core/errors.ts';
import type { DoorName, DoorView } from '../../protocol/doorMessages.ts';
import type { Log } from '../log.ts';
import type { DoorConfig } from './doorConfig.ts';

/** A door that listens. */
export interface OpenDoor {
  port: number;
  connections(): number;
  close(): Promise<void>;
}

/** One door: how it is to be, the listener if there is one, and what keeps it shut if not. */
export class DoorSlot {
  readonly name: DoorName;
  config: DoorConfig;
  trouble: ErrorShape | undefined;
  private readonly listen: (config: DoorConfig) => Promise<OpenDoor>;
  private readonly log: Log;
  private door: OpenDoor | undefined;

  constructor(name: DoorName, config: DoorConfig, listen: (config: DoorConfig) => Promise<OpenDoor>, log: Log) {
    this.name = name;
    this.config = config;
    this.listen = listen;
    this.log = log;
  }

  /** The port it listens on. */
  get port(): number | undefined {
    return this.door?.port;
  }

  get isWanting(): boolean {
    return this.config.on && !this.door;
  }

  view(): DoorView {
    const { bind, to, peers, on, port } = this.config;
    return {
      door: this.name,
      on,
      open: this.door !== undefined,
      bind,
      port: this.door?.port ?? port,
      ...(this.name === 'frames' && { to, peers: [...peers] }),
      connections: this.door?.connections() ?? 0,
      ...(this.trouble && { trouble: this.trouble }),
    };
  }

  /** Opens it if it is to be open and is not; what goes wrong is kept as its trouble. */
  async tryOpen(): Promise<void> {
    if (!this.isWanting) return;
    try {
      this.settle(await this.open(this.config));
    } catch (error) {
      const trouble = errorShape(error);
      if (this.trouble?.message !== trouble.message) this.log.warn('door-shut', { door: this.name, ...trouble });
      this.trouble = trouble;
    }
  }

  /** Changes it, in this order: what can fail comes first, and a failure leaves it as it was. */
  async change(config: DoorConfig, keep: (config: DoorConfig) => Promise<void>): Promise<void> {
    const { config: before, door: old } = this;
    if (config.on && (!old || config.port !== before.port || config.bind !== before.bind)) {
      const fresh = await this.openBeside(config);
      try {
        await keep(config);
      } catch (error) {
        await fresh.close();
        await this.tryOpen();
        throw error;
      }
      const replaced = this.door;
      this.config = config;
      this.settle(fresh);
      await replaced?.close();
      return;
    }
    await keep(config);
    this.config = config;
    this.trouble = undefined;
    if (!config.on) await this.close();
  }

  async close(): Promise<void> {
    const { door } = this;
    this.door = undefined;
    await door?.close();
  }

  /** A new listener while the old one goes on; where both want the same port, the old one has to make room first. */
  private async openBeside(config: DoorConfig): Promise<OpenDoor> {
    try {
      return await this.open(config);
    } catch (error) {
      if (!this.door || this.door.port !== config.port) throw error;
    }
    await this.close();
    try {
      return await this.open(config);
    } catch (error) {
      await this.tryOpen();
      throw error;
    }
  }

  private async open(config: DoorConfig): Promise<OpenDoor> {
    try {
      return await this.listen(config);
    } catch (error) {
      throw error instanceof BusError ? error : cannotListen(this.name, config, error as NodeJS.ErrnoException);
    }
  }

  private settle(door: OpenDoor): void {
    this.door = door;
    this.trouble = undefined;
    this.log.info('door-open', { door: this.name, bind: this.config.bind, port: door.port });
  }
}

function cannotListen(name: DoorName, { bind, port }: DoorConfig, error: NodeJS.ErrnoException): unknown {
  const another = `\`agent-bus door ${name} on --port N\``;
  if (error.code === 'EADDRINUSE') {
    return new BusError('door-taken', `Another program, perhaps agent-tool itself, listens on port ${port} already.`, {
      next: `End that program, or choose another port: ${another}.`,
      cause: error,
    });
  }
  if (error.code === 'EACCES') {
    return new BusError('door-taken', `The system does not let the hub listen on port ${port}.`, {
      next: `Choose a port above 1023: ${another}.`,
      cause: error,
    });
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'EINVAL') {
    return new BusError('invalid-input', `${bind} is not an address of this machine.`, {
      next: 'Give one that it has, or leave out --bind.',
      cause: error,
    });
  }
  return error;
}
