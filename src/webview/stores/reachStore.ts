import type { PageRequests } from '../../protocol/webviewMessages.ts';
import { PageError, type Ask } from '../api.ts';
import type { BusEvent } from './busEvent.ts';
import { Observable } from './observable.ts';

export type Reach = PageRequests['reach']['result'];
export type Way = Reach['now'];

/** A burst of events is one question. */
const soonMs = 150;

/** How the agent can be reached whose card is open. It is asked for again whenever something of that may have changed. */
export class ReachStore extends Observable {
  reach: Reach | undefined;
  /** The hub can't tell, for instance since it is an older one. */
  failed = false;
  private readonly ask: Ask;
  private agent: string | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ask: Ask) {
    super();
    this.ask = ask;
  }

  show(agent: string): void {
    if (this.agent !== agent) this.reach = undefined;
    this.agent = agent;
    this.failed = false;
    void this.load();
  }

  hide(agent: string): void {
    if (this.agent !== agent) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.agent = undefined;
    this.reach = undefined;
  }

  apply(events: readonly BusEvent[]): void {
    if (this.agent === undefined || this.timer !== undefined) return;
    if (events.some((event) => this.isAbout(event))) this.timer = setTimeout(() => void this.load(), soonMs);
  }

  /** Only of use for agents in a terminal of VS Code. */
  async allowTyping(agent: string, on: boolean): Promise<void> {
    try {
      await this.ask('typing', { agent, on });
    } finally {
      await this.load();
    }
  }

  private isAbout(event: BusEvent): boolean {
    if (event.type === 'presence') return event.agent.name === this.agent;
    if (event.type === 'receipt') return event.receipt.agent === this.agent;
    return event.type === 'paused' || event.type === 'agents';
  }

  private async load(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { agent } = this;
    if (agent === undefined) return;
    try {
      const reach = await this.ask('reach', { agent });
      if (this.agent !== agent) return;
      this.reach = reach;
      this.failed = false;
    } catch (error) {
      if (this.agent !== agent || !(error instanceof PageError)) return;
      this.failed = true;
    }
    this.changed();
  }
}
