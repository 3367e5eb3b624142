import type { Bus } from '../../core/bus.ts';
import { BusError } from '../../core/errors.ts';
import type { AgentRecord } from '../../core/model.ts';
import { freeName } from '../../core/names.ts';
import type { Reads } from '../../core/ports.ts';

const identityPrefix = 'broker\n';
const mostMailboxes = 1_000;
/** In UTF-16 units; the names of all mailboxes must fit into one reply. */
const labelLength = 200;

/**
 * Which agent a name at the broker's door stands for. Clients name mailboxes as they like, in any spelling: that is the
 * label. Its agent has a name of the bus near it. There is no authentication, so a label gives nobody access to an
 * agent that does not come through this door.
 */
export class MailNames {
  private readonly bus: Bus;
  private readonly reads: Reads;
  private readonly boxes: Map<string, AgentRecord>;
  /** Labels that a request is about: those can't be given away meanwhile. */
  private readonly held = new Map<string, number>();
  /** Agents known to have conversations: those stay. */
  private readonly spoken = new Set<number>();
  /** Mailboxes are made one after the other, so that there is one for each label and never one too many. */
  private making: Promise<unknown> = Promise.resolve();

  constructor(bus: Bus, reads: Reads) {
    this.bus = bus;
    this.reads = reads;
    this.boxes = new Map(
      bus.roster.all().flatMap((agent) => {
        const label = labelOf(agent);
        return label === undefined ? [] : [[label, agent] as const];
      }),
    );
  }

  /** All that are there, by their labels. */
  all(): [string, AgentRecord][] {
    return [...this.boxes].filter(([label]) => this.box(label));
  }

  /** The mailbox of that label, if there is one. Refuses names that are somebody else's. */
  find(label: string): AgentRecord | undefined {
    this.assertUsable(label);
    return this.box(label);
  }

  /** The same, made where it is missing. Only while the label is held. */
  async own(label: string): Promise<AgentRecord> {
    return this.find(label) ?? (await this.make(label));
  }

  /** Whom a message for that name goes to: agents of the bus first, then mailboxes. Only while it is held. */
  async recipient(name: string): Promise<AgentRecord> {
    assertLength(name);
    return this.resolve(name) ?? (await this.make(name));
  }

  /** What a post must name as `to` so that it goes to this agent. */
  addressOf(agent: AgentRecord): string {
    const label = labelOf(agent);
    return label !== undefined && !isChannel(label) && this.resolve(label) === agent ? label : agent.name;
  }

  /** While the work is done, mailboxes of these labels stay. */
  async holding<T>(labels: readonly string[], work: () => Promise<T>): Promise<T> {
    for (const label of labels) this.held.set(label, (this.held.get(label) ?? 0) + 1);
    try {
      return await work();
    } finally {
      for (const label of labels) {
        const left = (this.held.get(label) ?? 1) - 1;
        if (left > 0) this.held.set(label, left);
        else this.held.delete(label);
      }
    }
  }

  private resolve(name: string): AgentRecord | undefined {
    const called = this.called(name);
    if (called && labelOf(called) === undefined) return called;
    return this.box(name) ?? called;
  }

  private called(name: string): AgentRecord | undefined {
    const agent = this.bus.roster.find(name);
    if (!agent || agent.removed || agent.kind === 'bus') return undefined;
    const label = labelOf(agent);
    // A mailbox that is being forgotten is found no more.
    return label === undefined || this.box(label) === agent ? agent : undefined;
  }

  private box(label: string): AgentRecord | undefined {
    const agent = this.boxes.get(label);
    if (!agent || labelOf(agent) === label) return agent;
    // The person has removed it.
    this.boxes.delete(label);
    return undefined;
  }

  private assertUsable(label: string): void {
    assertLength(label);
    const agent = this.called(label);
    if (!agent || labelOf(agent) === label) return;
    // A mailbox whose bus name happens to be this label is no hindrance, unless that is how it is addressed.
    if (labelOf(agent) !== undefined && this.addressOf(agent) !== label) return;
    const free = freeName(label, (name) => this.called(name) !== undefined || this.boxes.has(name));
    throw new BusError(
      'forbidden',
      `mailbox ${JSON.stringify(label)} belongs to an agent of the bus that does not come through this door`,
      { next: `use another name, for example ${JSON.stringify(free)}` },
    );
  }

  private make(label: string): Promise<AgentRecord> {
    const made = this.making.then(async () => {
      const there = this.box(label);
      if (there) return there;
      if (this.all().length >= mostMailboxes) await this.makeRoom(label);
      const agent = await this.bus.roster.createNear(label, {
        identity: identityPrefix + label,
        product: 'agent-tool',
        about: label === nameless ? namelessAbout : `The mailbox ${JSON.stringify(label)} of agent-tool’s broker.`,
      });
      this.boxes.set(label, agent);
      return agent;
    });
    this.making = made.catch(() => undefined);
    return made;
  }

  /**
   * Forgets a mailbox that nobody has ever written to or from. The newest one: whoever makes up names loses their own
   * first, and the next one gets its number, so that endless names leave no trace.
   */
  private async makeRoom(label: string): Promise<void> {
    for (const [other, agent] of [...this.boxes].reverse()) {
      if (this.held.has(other) || this.spoken.has(agent.id)) continue;
      if (this.reads.conversations({ agent: agent.id, limit: 1 }).length === 0) {
        this.boxes.delete(other);
        try {
          await this.bus.roster.forget(agent);
          return;
        } catch {
          // Somebody has written to it in this very moment, or holds a token of it.
          this.boxes.set(other, agent);
        }
      }
      this.spoken.add(agent.id);
    }
    throw new BusError(
      'too-many-agents',
      `mailbox limit reached (${mostMailboxes} max), cannot create ${JSON.stringify(label)}`,
      {
        next: 'use a mailbox that exists, or ask the person to remove some: `agent-bus register NAME --remove`',
      },
    );
  }
}

/** The label of those who don’t say who they are. */
export const nameless = 'agent-tool';
const namelessAbout = 'agent-tool sessions that give no name of their own; an answer may be read by any of them.';

export function isChannel(name: string): boolean {
  return name.startsWith('#');
}

function labelOf(agent: AgentRecord): string | undefined {
  return agent.identity?.startsWith(identityPrefix) ? agent.identity.slice(identityPrefix.length) : undefined;
}

function assertLength(label: string): void {
  if (label.length <= labelLength) return;
  throw new BusError('invalid-name', `the name of a mailbox has at most ${labelLength} characters`, {
    next: 'use a shorter one',
  });
}
