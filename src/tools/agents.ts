import { z } from 'zod';
import { cleanLine } from '../core/envelope.ts';
import type { AgentView } from '../core/model.ts';
import { defineTool } from './defineTool.ts';
import { page } from './schemas.ts';

export const agents = defineTool({
  name: 'agents',
  title: 'Who is on the bus',
  effect: 'reads',
  about: 'Who you are on the bus, who else is here, what each does and how a message would reach it.',
  always: true,
  input: z.strictObject({
    query: z.string().max(100).optional().describe('in name, description, workspace'),
    online: z.boolean().optional(),
    limit: page.limit,
    cursor: z.string().max(40).optional(),
  }),
  run({ query, online, limit, cursor }, { bus, caller }) {
    const wanted = query?.toLowerCase();
    const found = bus.roster
      .all()
      .filter((agent) => agent.id !== caller.agent)
      .filter(
        (agent) =>
          !wanted || `${agent.name} ${agent.about} ${agent.workspace} ${agent.product}`.toLowerCase().includes(wanted),
      )
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

export function agentLine(agent: AgentView): string {
  const about = agent.about ? ` "${cleanLine(agent.about, 120)}"` : '';
  const where = agent.workspace ? ` in ${cleanLine(agent.workspace, 60)}` : '';
  return `${agent.name} (${agent.presence}${where})${about}; hears by: ${agent.reach.join(', then ')}`;
}
