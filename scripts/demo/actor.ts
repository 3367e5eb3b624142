import { BusClient } from '../../src/client/busClient.ts';
import type { ToolInput } from '../../src/client/toolTypes.ts';
import type { BusHome } from '../../src/hub/home.ts';
import { version } from '../../src/hub/version.ts';
import { workspaceOf, type Part } from './cast.ts';
import { Over } from './over.ts';

type Extra = Partial<Pick<ToolInput<'send'>, 'kind' | 'priority' | 'options' | 'data' | 'files' | 'reply_to'>>;

/** One agent of the demo: a real client of the hub, which says what a scene tells it to. */
export class Actor {
  readonly part: Part;
  private readonly home: BusHome;
  private readonly folder: string;
  private client: BusClient | undefined;

  constructor(part: Part, home: BusHome, folder: string) {
    this.part = part;
    this.home = home;
    this.folder = folder;
  }

  get name(): string {
    return this.part.name;
  }

  async enter(): Promise<void> {
    if (this.client) return;
    const { name, product, about } = this.part;
    const workspace = workspaceOf(this.part, this.folder);
    this.client = await BusClient.connect({
      home: this.home,
      version,
      via: 'rpc',
      start: false,
      reconnect: true,
      attach: { workspace, product, name },
    });
    await this.client.call('register', { about });
  }

  /** Offline, as a terminal that was closed. */
  leave(): void {
    this.client?.close();
    this.client = undefined;
  }

  async join(channel: string): Promise<void> {
    await this.bus.call('channel', { action: 'join', name: channel });
  }

  /** Tells something that needs no answer. */
  async tell(to: string | string[], text: string, extra: Extra = {}): Promise<string> {
    return (await this.bus.call('send', { to, text, kind: 'inform', ...extra })).data.id;
  }

  async ask(to: string | string[], text: string, extra: Extra = {}): Promise<string> {
    return (await this.bus.call('send', { to, text, kind: 'request', ...extra })).data.id;
  }

  async answer(message: string, text: string): Promise<string> {
    return (await this.bus.call('send', { reply_to: message, text, kind: 'reply' })).data.id;
  }

  /** Looks at its new mail, so that senders see that it did. */
  async read(): Promise<void> {
    const { shown } = await this.bus.call('inbox', { limit: 50 });
    this.bus.shown(shown, 'inbox');
    // A request after the note: when it is answered, the note has been taken.
    await this.bus.call('ping', { to: 'person' });
  }

  async ack(message: string, outcome: 'done' | 'blocked' | 'rejected' = 'done', note?: string): Promise<void> {
    await this.bus.call('ack', { ids: [message], outcome, ...(note !== undefined && { note }) });
  }

  async become(state: 'working' | 'idle' | 'waiting'): Promise<void> {
    await this.bus.request('presence', { state });
  }

  private get bus(): BusClient {
    if (!this.client) throw new Over();
    return this.client;
  }
}
