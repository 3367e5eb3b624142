import type { AgentView, Presence } from '../../core/model.ts';
import type { BusEvent } from './busEvent.ts';
import type { Ask } from '../api.ts';
import { Observable } from './observable.ts';

/** Who needs the person first, who works next, who is away last. */
const rank: Record<Presence, number> = { waiting: 0, working: 1, idle: 2, offline: 3 };

/** Everybody on the bus, by presence and name. */
export class AgentsStore extends Observable {
  agents: AgentView[] = [];
  private readonly byName = new Map<string, AgentView>();
  private readonly ask: Ask;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ask: Ask) {
    super();
    this.ask = ask;
  }

  get(name: string): AgentView | undefined {
    return this.byName.get(name);
  }

  count(presence: Presence): number {
    return this.agents.filter((agent) => agent.kind === 'agent' && agent.presence === presence).length;
  }

  async load(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const agents = await this.ask('agents', {}).catch(() => undefined);
    if (!agents) return;
    this.byName.clear();
    for (const agent of agents) this.byName.set(agent.name, agent);
    this.sort();
  }

  apply(events: readonly BusEvent[]): void {
    let touched = false;
    for (const event of events) {
      if (event.type === 'presence') {
        this.byName.set(event.agent.name, event.agent);
        touched = true;
      } else if (event.type === 'agents') this.timer ??= setTimeout(() => void this.load(), 200);
    }
    if (touched) this.sort();
  }

  private sort(): void {
    this.agents = [...this.byName.values()].sort(
      (a, b) => rank[a.presence] - rank[b.presence] || (a.name < b.name ? -1 : 1),
    );
    this.changed();
  }
}
