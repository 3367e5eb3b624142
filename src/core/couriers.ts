import { BusError } from './errors.ts';
import type { AgentRecord, Caller, MessageRecord } from './model.ts';

/**
 * Carries mail to agents that are no clients of this bus: over TCP, over A2A. It looks at the feed and at the store by
 * itself; what is asked of it here is what a caller wants to know meanwhile.
 */
export interface Courier {
  /** Whether an address, such as tcp://host:port, is one of its kind. */
  knows(address: string): boolean;
  /** Where it carries an agent's mail to; undefined for the agents of others. */
  addressOf(agent: AgentRecord): string | undefined;
  /** The agent at an address, made on first use; refuses addresses that may not be used. */
  agentAt(address: string, caller: Caller): Promise<AgentRecord>;
  /** Resolves when the first try has ended, well or not, or takes longer than a sender should wait for it. */
  firstTry(message: MessageRecord, agent: AgentRecord): Promise<void>;
  /** By which way the agent hears, in words, and what keeps it. */
  describe(agent: AgentRecord): { reach: string[]; doing?: string };
  /** Rejects with the reason if nobody answers there. */
  probe(address: string, signal: AbortSignal): Promise<void>;
  /** What the other side says of a message that was given to it, where it says anything. */
  task?(seq: number): RemoteTaskView | undefined;
}

/** How far another system is with what it was asked. */
export interface RemoteTaskView {
  /** As that system names it: submitted, working, input-required… */
  state: string;
  progress?: string;
  updated_at: string;
}

export interface AddedRemote {
  agent: AgentRecord;
  /** It was here before; its card was read again. */
  known: boolean;
}

/** The agents elsewhere that can be added by their address, and those of here that can be asked from elsewhere. */
export interface RemoteDirectory {
  /** Reads the card at the address; `secret` is sent along with every request to that agent, and never shown. */
  add(
    caller: Caller,
    url: string,
    options: { name?: string | undefined; secret?: { header: string; value: string } | undefined },
  ): Promise<AddedRemote>;
  /** Only what the caller has added; the person may remove any. Conversations stay. */
  remove(caller: Caller, name: string): Promise<AgentRecord>;
  /** The address under which an agent that is open can be asked over A2A. */
  cardUrl(agent: AgentRecord): string;
}

export class Couriers {
  private readonly list: Courier[] = [];

  add(courier: Courier): void {
    this.list.push(courier);
  }

  /** The courier of an agent's mail, and where it goes. */
  of(agent: AgentRecord): { courier: Courier; address: string } | undefined {
    for (const courier of this.list) {
      const address = courier.addressOf(agent);
      if (address !== undefined) return { courier, address };
    }
    return undefined;
  }

  at(address: string): Courier {
    const courier = this.list.find((candidate) => candidate.knows(address));
    if (courier) return courier;
    throw new BusError('invalid-input', `"${address.slice(0, 100)}" is not an address the bus can send to.`, {
      next: 'Use a name, a "#channel", tcp://host:port for agent-tool, or http(s)://… for an A2A agent.',
    });
  }

  task(seq: number): RemoteTaskView | undefined {
    for (const courier of this.list) {
      const task = courier.task?.(seq);
      if (task) return task;
    }
    return undefined;
  }
}

/** A recipient that is an address and not a name: no name holds a colon. */
export function isAddress(recipient: string): boolean {
  return recipient.includes('://');
}
