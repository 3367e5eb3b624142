import { join } from 'node:path';
import { groupedHooks, nestedAnswers } from './claudeForm.ts';
import { serverName, type Place, type Product } from './product.ts';

const events = {
  SessionStart: 'session-start',
  BeforeAgent: 'prompt',
  AfterTool: 'after-tool',
  AfterAgent: 'stop',
  SessionEnd: 'session-end',
} as const;

export const gemini: Product = {
  name: 'gemini',
  title: 'Gemini CLI',
  agent: 'gemini',
  client: 'gemini-cli-mcp-client',
  programs: ['gemini'],
  folder: geminiFolder,

  files(place, scope, hooks) {
    const folder = scope === 'user' ? geminiFolder(place) : join(place.project, '.gemini');
    const entries = hooks
      ? groupedHooks(Object.keys(events), (event) => ({
          name: serverName,
          type: 'command',
          command: place.launch.native('hook', 'gemini', event),
          // In milliseconds here, in seconds everywhere else.
          timeout: 5_000,
        }))
      : [];
    const server = place.launch.server('--product', 'gemini');
    return [
      {
        path: join(folder, 'settings.json'),
        format: 'json',
        parts: [{ kind: 'server', at: ['mcpServers', serverName], value: server }, ...entries],
      },
    ];
  },

  remains: (scope) => [
    ...(scope === 'project' ? ['Gemini CLI reads a project’s settings only where you have trusted the folder.'] : []),
    'Sessions of Gemini CLI that are open already don’t know it yet: start them again.',
  ],

  hooks: {
    events,
    fields: {
      chat: 'session_id',
      folder: 'cwd',
      tool: 'tool_name',
      prompt: 'prompt',
      again: 'stop_hook_active',
    },
    folderVariable: 'GEMINI_PROJECT_DIR',
    heard: ['session-start', 'prompt', 'after-tool', 'stop'],
    answer: nestedAnswers,
  },
};

/** GEMINI_CLI_HOME stands for the home folder, not for the folder in it. */
function geminiFolder({ env, home }: Place): string {
  return join(env['GEMINI_CLI_HOME'] || home, '.gemini');
}
