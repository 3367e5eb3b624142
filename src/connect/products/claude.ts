import { join } from 'node:path';
import { rewakeHooks } from '../routes/claudeRewakeRoute.ts';
import { claudeFields, groupedHooks, nestedAnswers } from './claudeForm.ts';
import { serverName, type Place, type Product } from './product.ts';

const events = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt',
  PostToolUse: 'after-tool',
  Stop: 'stop',
  SessionEnd: 'session-end',
} as const;

export const claude: Product = {
  name: 'claude',
  title: 'Claude Code',
  agent: 'claude',
  client: 'claude-code',
  programs: ['claude'],
  folder: claudeFolder,

  files(place, scope, hooks) {
    const { launch, project } = place;
    // Other products read a project's .mcp.json as well: there the client itself says which product it is.
    const server = { type: 'stdio', ...(scope === 'user' ? launch.server('--product', 'claude') : launch.server()) };
    const told = groupedHooks(Object.keys(events), (event) => ({
      type: 'command',
      command: launch.shell('hook', 'claude', event),
      timeout: 5,
    }));
    const entries = hooks ? [...told, ...rewakeHooks(place)] : [];
    const settings = scope === 'user' ? join(claudeFolder(place), 'settings.json') : localSettings(project);
    const servers = scope === 'user' ? userServers(place) : join(project, '.mcp.json');
    return [
      { path: servers, format: 'json', parts: [{ kind: 'server', at: ['mcpServers', serverName], value: server }] },
      { path: settings, format: 'json', parts: entries },
    ];
  },

  remains: (scope) =>
    scope === 'user'
      ? ['Sessions of Claude Code that are open already don’t know it yet: start them again.']
      : [
          'Start Claude Code in this project and approve the server "agent-bus", which it found in .mcp.json.',
          '.mcp.json now holds a path of this machine: keep it out of version control.',
        ],

  hooks: {
    events,
    fields: {
      ...claudeFields,
      helper: 'agent_id',
      // VS Code can be told to run Claude's hooks for Copilot's chats; its extension looks after those.
      foreign: 'timestamp',
    },
    folderVariable: 'CLAUDE_PROJECT_DIR',
    heard: ['session-start', 'prompt', 'after-tool', 'stop'],
    answer: nestedAnswers,
  },
  session: { variable: 'CLAUDE_CODE_SESSION_ID' },
};

function claudeFolder({ env, home }: Place): string {
  return env['CLAUDE_CONFIG_DIR'] || join(home, '.claude');
}

function userServers({ env, home }: Place): string {
  return join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json');
}

/** The person's own settings in a project, which Claude Code keeps out of version control. */
function localSettings(project: string): string {
  return join(project, '.claude', 'settings.local.json');
}
