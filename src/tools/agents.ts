import { z } from 'zod';
import { cleanLine } from '../core/envelope.ts';
import { limits } from '../core/limits.ts';
import type { AgentRecord, AgentView } from '../core/model.ts';
import { defineTool } from './defineTool.ts';
import { page } from './schemas.ts';

export const agents = defineTool({
  name: 'agents',
  title: 'Who is on the bus',
  effect: 'reads',
  about: 'Who you are on the bus, who else is here, what each does and how a message would reach it.',
  always: true,
  input: z.strictObject({
    query: z.string().max(100).optional().describe('in name, description, workspace, skills'),
    skill: z.string().max(limits.skillLength).optional(),
    online: z.boolean().optional(),
    limit: page.limit,
    cursor: z.string().max(40).optional(),
  }),
  run({ query, skill, online, limit, cursor }, { bus, caller }) {
    const found = bus.roster
      .all()
      .filter((agent) => agent.id !== caller.agent)
      .filter((agent) => query === undefined || holds(descriptionOf(agent), query))
      .filter((agent) => skill === undefined || agent.skills.some((own) => holds(own, skill)))
      .filter((agent) => online === undefined || (bus.presence.of(agent.id) !== 'offline') === online)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .filter((agent) => cursor === undefined || agent.name > cursor);
    const shown = found.slice(0, limit);
    const last = shown.at(-1);
    return {
      you: { ...bus.views.agent(bus.roster.get(caller.agent)), unread: bus.reading.unreadCount(caller.agent) },
      agents: shown.map((agent) => bus.views.agent(agent)),
      ...(last && found.length > limit && { next: last.name }),
    };
  },
  render({ you, agents: others, next }) {
    const lines = others.map((agent) => `- ${agentLine(agent)}`);
    return [
      `You are ${you.name}${you.unread > 0 ? `, with ${you.unread} unread (call inbox)` : ''}.`,
      others.length === 0 ? 'Nobody else matches.' : `${others.length} other${others.length === 1 ? '' : 's'}:`,
      ...lines,
      ...(next ? [`More: cursor "${next}".`] : []),
    ].join('\n');
  },
});

function descriptionOf({ name, about, workspace, product, skills }: AgentRecord): string {
  return [name, about, workspace, product, ...skills].join(' ');
}

function holds(text: string, wanted: string): boolean {
  return text.toLowerCase().includes(wanted.trim().toLowerCase());
}

/** What an agent says of itself, or its card elsewhere says, is peer text. */
export function agentLine(agent: AgentView): string {
  const about = agent.about ? ` "${cleanLine(agent.about, 120)}"` : '';
  const doing = agent.doing ? `: ${cleanLine(agent.doing, 120)}` : '';
  const where = agent.workspace ? ` in ${cleanLine(agent.workspace, 60)}` : '';
  const facts = [
    ...(agent.skills?.length ? [`skills: ${skillsText(agent.skills)}`] : []),
    ...(agent.address ? [`at ${cleanLine(agent.address, 200)}`] : []),
    ...(agent.open ? ['open to A2A'] : []),
    `hears by: ${agent.reach.join(', then ')}`,
  ];
  return `${agent.name} (${agent.presence}${doing}${where})${about}; ${facts.join('; ')}`;
}

const skillsShown = 5;

function skillsText(skills: readonly string[]): string {
  const shown = skills.slice(0, skillsShown).map((skill) => `"${cleanLine(skill, 40)}"`);
  return shown.join(', ') + (skills.length > skillsShown ? ` and ${skills.length - skillsShown} more` : '');
}
