import { join } from 'node:path';
import { claudeFields } from './claudeForm.ts';
import { serverName, type Product } from './product.ts';

/** The extension is the way into VS Code; `--project` is for those who don't want it. */
export const vscode: Product = {
  name: 'vscode',
  title: 'VS Code',
  agent: 'copilot',
  client: 'Visual Studio Code',
  programs: ['code', 'code-insiders', 'code-server'],
  folder: ({ home }) => join(home, '.vscode'),

  files({ project, launch }, scope) {
    if (scope === 'user') return [];
    const server = { type: 'stdio', ...launch.server('--product', 'copilot', '--workspace', '${workspaceFolder}') };
    return [
      {
        path: join(project, '.vscode', 'mcp.json'),
        format: 'json',
        parts: [{ kind: 'server', at: ['servers', serverName], value: server }],
      },
    ];
  },

  remains: (scope) =>
    scope === 'project'
      ? [
          'Open the project in VS Code and start the server "agent-bus" where it stands in .vscode/mcp.json.',
          'Without the extension the agents there can send and read, but nobody can wake them.',
          '.vscode/mcp.json now holds a path of this machine: keep it out of version control.',
        ]
      : [],

  unheard: 'give it a prompt: VS Code runs the hooks of the bus with its next turn',

  /** As the plugin of the extension hears them. */
  hooks: {
    events: {
      SessionStart: 'session-start',
      UserPromptSubmit: 'prompt',
      PreToolUse: 'before-tool',
      PostToolUse: 'after-tool',
      Stop: 'stop',
      SessionEnd: 'session-end',
    },
    fields: claudeFields,
    // What is said after a tool arrives late or never; before it, with its result.
    heard: ['session-start', 'prompt', 'before-tool', 'stop'],
    answer: (event, { context, block }) => {
      if (context === undefined && block === undefined) return undefined;
      // Copilot looks for a decision in here; at the top level it means nothing to it.
      const decision = block === undefined ? {} : { decision: 'block', reason: block };
      const said = context === undefined ? {} : { additionalContext: context };
      return { hookSpecificOutput: { hookEventName: event, ...said, ...decision } };
    },
  },
  session: { meta: 'vscode.conversationId' },
};
