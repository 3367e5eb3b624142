import { isToolName } from './table.ts';

/** How products call our tools: `mcp_agent_bus_send`, `mcp__agent-bus__send`. */
const form = /(?:^|_)agent[-_]bus\d*_{1,2}([a-z]+)$/;

/** Whether a product's name for a tool is one of ours. For comfort only: anybody may give a tool such a name. */
export function isBusTool(name: string): boolean {
  return isToolName(form.exec(name)?.[1] ?? '');
}
