import { z } from 'zod';
import type { Bus } from '../core/bus.ts';
import type { RemoteDirectory } from '../core/couriers.ts';
import { cleanLine } from '../core/envelope.ts';
import { BusError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { AgentView, Caller } from '../core/model.ts';
import { agentLine } from './agents.ts';
import { defineTool } from './defineTool.ts';

interface Registered {
  /** You, as you are now; with the address for others if you are open to them. */
  you?: AgentView;
  card_url?: string;
  /** An agent elsewhere, which is on the bus now. */
  agent?: AgentView;
  known?: boolean;
  removed?: string;
}

const input = z.strictObject({
  name: z.string().max(limits.nameLength).optional().describe('a-z 0-9 -'),
  about: z.string().max(limits.aboutLength).optional(),
  skills: z.array(z.string().max(limits.skillLength)).max(limits.skills).optional(),
  open: z.boolean().optional().describe('others may ask you over A2A'),
  url: z.string().max(limits.addressLength).optional().describe('add this A2A agent, as name'),
  remove: z
    .union([z.boolean(), z.string().max(limits.nameLength)])
    .optional()
    .describe('an A2A agent you added; true: leave, needs a person to come back'),
});

type Wanted = z.output<typeof input>;

export const register = defineTool({
  name: 'register',
  title: 'Describe yourself, add agents',
  effect: 'changes',
  about:
    'Choose your own name, say what you do and are good at, or leave the bus; your former name keeps reaching you. Or add an A2A agent by url.',
  input,
  async run(wanted, { bus, caller }): Promise<Registered> {
    if (wanted.remove !== undefined && wanted.remove !== false) return remove(bus, caller, wanted, wanted.remove);
    if (wanted.url !== undefined) return add(bus, caller, wanted, wanted.url);
    return describe(bus, caller, wanted);
  },
  render({ you, card_url, agent, known, removed }) {
    if (agent) {
      return `${agent.name} ${known ? 'was on the bus already; its card was read again' : 'is on the bus now'}: ${agentLine(agent)}`;
    }
    if (!you) return `${removed} has left the bus.`;
    return `You are ${you.name} now.${card_url ? ` Others ask you over A2A at ${cleanLine(card_url, 300)} with a token from the person.` : ''}`;
  },
});

async function describe(bus: Bus, caller: Caller, { name, about, skills, open }: Wanted): Promise<Registered> {
  const you = bus.roster.get(caller.agent);
  if (open && you.kind === 'person') {
    throw new BusError('forbidden', 'The person is not asked over A2A.', {
      next: 'Open an agent instead: `agent-bus register NAME --open`.',
    });
  }
  if (name !== undefined) await bus.roster.rename(you, name);
  await bus.roster.describe(you, {
    ...(about !== undefined && { about }),
    ...(skills && { skills: cleanSkills(skills) }),
    ...(open !== undefined && { open }),
  });
  return { you: bus.views.agent(you), ...(you.open && bus.remotes && { card_url: bus.remotes.cardUrl(you) }) };
}

async function add(bus: Bus, caller: Caller, { name, about, skills, open }: Wanted, url: string): Promise<Registered> {
  refuseBeside(
    'url',
    { about, skills, open },
    'An agent elsewhere describes itself: give only `url` and, if you like, `name`.',
  );
  try {
    const { agent, known } = await remotesOf(bus).add(caller, url, { name });
    return { agent: bus.views.agent(agent), known };
  } catch (error) {
    if (!(error instanceof BusError) || error.code !== 'unauthorized') throw error;
    throw new BusError('unauthorized', error.message, {
      next: 'Ask the person to add it with what it wants: `agent-bus register URL --bearer-from FILE`. Secrets never go into a tool call.',
      cause: error,
    });
  }
}

async function remove(bus: Bus, caller: Caller, wanted: Wanted, target: string | true): Promise<Registered> {
  const { remove: _, ...rest } = wanted;
  refuseBeside(
    'remove',
    rest,
    'Give `remove` alone: the name of an A2A agent that you added, or true to leave the bus.',
  );
  if (target !== true) return { removed: (await remotesOf(bus).remove(caller, target)).name };
  const you = bus.roster.get(caller.agent);
  await bus.remove(you);
  return { removed: you.name };
}

function refuseBeside(argument: string, others: Record<string, unknown>, next: string): void {
  const given = Object.keys(others).filter((name) => others[name] !== undefined);
  if (given.length === 0) return;
  throw new BusError('invalid-input', `\`${argument}\` does not go with \`${given.join('`, `')}\`. Nothing was done.`, {
    next,
  });
}

/** One line each, no empty ones, each once. */
function cleanSkills(skills: readonly string[]): string[] {
  return [...new Set(skills.map((skill) => cleanLine(skill, limits.skillLength)).filter(Boolean))];
}

function remotesOf(bus: Bus): RemoteDirectory {
  if (bus.remotes) return bus.remotes;
  throw new BusError('hub-unavailable', 'This hub has no way to agents elsewhere.', { next: 'Try again in a moment.' });
}
