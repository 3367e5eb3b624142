/** Products as they come, which ask the person before they change anything; the other tests let them do as they like. */
import type { Product } from './agentProduct.ts';
import type { AgentRoom } from './agentRoom.ts';
import type { Launch } from './agentRun.ts';
import type { Step } from './modelWire.ts';

const args: Record<Product['name'], (usual: string[]) => string[]> = {
  claude: () => ['--permission-mode', 'default', '--allowedTools', 'mcp__agent-bus'],
  codex: () => ['--sandbox', 'read-only', '--ask-for-approval', 'on-request'],
  copilot: () => ['--allow-tool', 'agent-bus'],
  gemini: (usual) => usual.filter((word) => word !== '-y'),
};

export function askingLaunch(product: Product, room: AgentRoom): Launch {
  const launch = product.interactive(room);
  return { ...launch, args: args[product.name](launch.args) };
}

/** What the model does so that the person is asked. */
export function askingStep(product: Product): Step {
  if (product.name !== 'codex') return product.shell('touch newfile.txt');
  const escalated = { sandbox_permissions: 'require_escalated', justification: 'May I?' };
  return { call: 'exec_command', with: { cmd: 'touch newfile.txt', ...escalated } };
}

/** On the screen while it asks. */
export const asks = /Do you want to (proceed|run)|Would you like to run|Allow execution/;
