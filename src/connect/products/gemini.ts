import { dirname, join } from 'node:path';
import { settingIn } from '../files/settingIn.ts';
import { Launch } from '../launch.ts';
import { geminiSwitches, leaveRunning } from '../routes/backgroundShellRoute.ts';
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
        parts: [
          { kind: 'server', at: ['mcpServers', serverName], value: server },
          ...entries,
          ...(hooks ? geminiSwitches : []),
        ],
      },
    ];
  },

  experimental:
    'Gemini CLI can be woken while it is idle only by a background command that its model leaves running, with two of its settings on ' +
    '(experimental.modelSteering, and tools.shell.backgroundCompletionBehavior = "inject"). Switch them on?',
  remains: (scope, hooks, isOn) => [
    ...(hooks && !isOn
      ? [
          'While it is idle it can’t be woken: that takes two settings of Gemini CLI, which `agent-bus connect gemini --experimental` switches on. ' +
            'Until then messages arrive between two tools, at the end of a turn and with your next prompt.',
        ]
      : []),
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
    advice({ chat, workspace, env }) {
      const launcher = env['AGENT_BUS_LAUNCHER'];
      if (!launcher || !/^[\w-]+$/.test(chat) || !wakesByShell(workspace, env)) return undefined;
      return leaveRunning(new Launch(dirname(launcher)).native('wait', '--session', chat, '--product', 'gemini'));
    },
  },
};

/** A project's settings come before the person's own. */
function wakesByShell(project: string, env: Place['env']): boolean {
  // Every hook loads this file, and none needs to know whose home it is.
  const own = geminiFolder({ env, home: env['HOME'] || process.getBuiltinModule('node:os').homedir() });
  const files = [join(project, '.gemini'), own].map((folder) => join(folder, 'settings.json'));
  return geminiSwitches.every(({ at, value }) => {
    return files.map((file) => settingIn(file, at)).find((found) => found !== undefined) === value;
  });
}

/** GEMINI_CLI_HOME stands for the home folder, not for the folder in it. */
function geminiFolder({ env, home }: Pick<Place, 'env' | 'home'>): string {
  return join(env['GEMINI_CLI_HOME'] || home, '.gemini');
}
