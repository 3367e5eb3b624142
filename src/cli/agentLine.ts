import type { AgentView } from '../core/model.ts';
import { visibleLine } from './terminalText.ts';
import { shortTime } from './times.ts';

export function agentLine(agent: AgentView): string {
  const seen = agent.presence === 'offline' && agent.last_seen ? ` since ${shortTime(agent.last_seen)}` : '';
  const doing = agent.doing ? ` (${visibleLine(agent.doing, 120)})` : '';
  const where = agent.workspace ? `, in ${visibleLine(agent.workspace, 60)}` : '';
  const address = agent.address ? `, at ${visibleLine(agent.address, 200)}` : '';
  const open = agent.open ? ', open to A2A' : '';
  const about = agent.about ? `: ${visibleLine(agent.about, 120)}` : '';
  const skills = agent.skills?.length ? `; skills: ${skillsText(agent.skills)}` : '';
  const hears = `(hears by ${agent.reach.map((way) => visibleLine(way, 60)).join(', then ')})`;
  return `${agent.name}  ${agent.presence}${seen}${doing}${where}${address}${open}${about}${skills}  ${hears}`;
}

const skillsShown = 5;

function skillsText(skills: readonly string[]): string {
  const shown = skills.slice(0, skillsShown).map((skill) => visibleLine(skill, 40));
  return shown.join(', ') + (skills.length > skillsShown ? ` and ${skills.length - skillsShown} more` : '');
}
