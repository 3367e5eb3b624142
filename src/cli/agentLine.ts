import type { AgentView } from '../core/model.ts';
import { visibleLine } from './terminalText.ts';
import { shortTime } from './times.ts';

export function agentLine(agent: AgentView): string {
  const seen = agent.presence === 'offline' && agent.last_seen ? ` since ${shortTime(agent.last_seen)}` : '';
  const doing = agent.doing ? ` (${visibleLine(agent.doing, 120)})` : '';
  const where = agent.workspace ? `, in ${visibleLine(agent.workspace, 60)}` : '';
  const about = agent.about ? `: ${visibleLine(agent.about, 120)}` : '';
  return `${agent.name}  ${agent.presence}${seen}${doing}${where}${about}  (hears by ${agent.reach.join(', then ')})`;
}
