/** Each way to wake an idle session by `agent-bus wait`, with what the person has to have done for it. */
import type { SessionSetup } from './connectedSession.ts';
import { claude } from './products/claude.ts';
import { copilot } from './products/copilot.ts';
import { gemini } from './products/gemini.ts';

const rewake: SessionSetup = { product: claude, route: 'rewake hook' };

const extension: SessionSetup = { product: copilot, route: 'Copilot CLI’s extension', connect: ['--experimental'] };

const geminiShell: SessionSetup = {
  product: gemini,
  route: 'background command',
  connect: ['--experimental'],
  background: (command) => ({
    call: 'run_shell_command',
    with: { command, description: 'wait for mail', is_background: true },
  }),
};

/** Without the extension: the person asks for it, and the shell knows the session. */
const copilotShell: SessionSetup = {
  product: copilot,
  route: 'background command',
  begin: (agentBus) => {
    const command = `${agentBus} wait --session "$COPILOT_AGENT_SESSION_ID" --product copilot-cli`;
    return `Do as I say from now on, by leaving this running in the background: ${command}`;
  },
  background: (command) => ({ call: 'bash', with: { command, description: 'wait for mail', mode: 'async' } }),
};

export const idleSetups = { rewake, extension, geminiShell, copilotShell };
