import { join } from 'node:path';
import { copilotFolder, extensionFiles } from '../routes/copilotExtensionRoute.ts';
import { serverName, type Part, type Product } from './product.ts';

const events = {
  sessionStart: 'session-start',
  userPromptSubmitted: 'prompt',
  postToolUse: 'after-tool',
  agentStop: 'stop',
  sessionEnd: 'session-end',
} as const;

export const copilot: Product = {
  name: 'copilot',
  title: 'Copilot CLI',
  // A product of its own beside the Copilot of VS Code: a window of the editor can't carry a chat of a terminal.
  agent: 'copilot-cli',
  client: 'copilot-cli',
  programs: ['copilot'],
  folder: copilotFolder,

  files(place, scope, hooks) {
    const { launch, project } = place;
    const server = { type: 'local', ...launch.server('--product', 'copilot-cli'), tools: ['*'] };
    const own = scope === 'user' ? copilotFolder(place) : join(project, '.github');
    const servers = join(own, scope === 'user' ? 'mcp-config.json' : 'mcp.json');
    const entries = Object.keys(events).map((event): Part => {
      const line = ['hook', 'copilot', event];
      const value = {
        type: 'command',
        bash: launch.shell(...line),
        powershell: launch.powershell(...line),
        timeoutSec: 5,
      };
      return { kind: 'hook', at: ['hooks', event], value };
    });
    const version: Part = { kind: 'setting', at: ['version'], value: 1 };
    return [
      { path: servers, format: 'json', parts: [{ kind: 'server', at: ['mcpServers', serverName], value: server }] },
      { path: join(own, 'hooks', 'agent-bus.json'), format: 'json', parts: hooks ? [version, ...entries] : [] },
      ...extensionFiles(place, scope, hooks),
    ];
  },

  experimental:
    'Copilot CLI can be woken while it is idle only by an extension, and those are experimental there. ' +
    'Switch its experimental features on?',
  remains: (scope, hooks, isOn) => [
    ...(hooks && !isOn
      ? [
          'While it is idle it can’t be woken yet: Copilot CLI loads the extension that does so only with its experimental features on. ' +
            'Run `agent-bus connect copilot --experimental`, or /experimental on in Copilot CLI. ' +
            'Until then messages arrive between two tools, at the end of a turn and with your next prompt.',
        ]
      : []),
    ...(scope === 'project'
      ? ['The files under .github now hold a path of this machine: keep them out of version control.']
      : []),
    'Sessions of Copilot CLI that are open already don’t know it yet: start them again.',
  ],

  hooks: {
    events,
    // VS Code runs these hooks as well, and says `session_id`: without a `sessionId` it is not ours to answer.
    fields: { chat: 'sessionId', folder: 'cwd', tool: 'toolName', prompt: 'prompt', again: 'stop_hook_active' },
    folderVariable: 'COPILOT_PROJECT_DIR',
    heard: ['session-start', 'prompt', 'after-tool', 'stop'],
    answer: (_event, { context, block }) => {
      if (block !== undefined) return { decision: 'block', reason: block };
      return context === undefined ? undefined : { additionalContext: context };
    },
  },
  session: { variable: 'COPILOT_AGENT_SESSION_ID', restarts: true },
};
