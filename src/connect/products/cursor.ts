/** Cursor could not be run where this was written: files and fields are as its documentation has them. */
import { join } from 'node:path';
import { serverName, type Part, type Product } from './product.ts';

const events = {
  sessionStart: 'session-start',
  beforeSubmitPrompt: 'prompt',
  postToolUse: 'after-tool',
  stop: 'stop',
  sessionEnd: 'session-end',
} as const;

export const cursor: Product = {
  name: 'cursor',
  title: 'Cursor',
  agent: 'cursor',
  client: 'cursor-vscode',
  programs: ['cursor', 'cursor-agent'],
  folder: ({ home }) => join(home, '.cursor'),

  files({ home, project, launch }, scope, hooks) {
    const folder = join(scope === 'user' ? home : project, '.cursor');
    const where = scope === 'project' ? ['--workspace', '${workspaceFolder}'] : [];
    const server = launch.server('--product', 'cursor', ...where);
    const entries = Object.keys(events).map((event): Part => {
      const value = { command: launch.native('hook', 'cursor', event), timeout: 5 };
      return { kind: 'hook', at: ['hooks', event], value };
    });
    const version: Part = { kind: 'setting', at: ['version'], value: 1 };
    return [
      {
        path: join(folder, 'mcp.json'),
        format: 'json',
        parts: [{ kind: 'server', at: ['mcpServers', serverName], value: server }],
      },
      { path: join(folder, 'hooks.json'), format: 'json', parts: hooks ? [version, ...entries] : [] },
    ];
  },

  remains: (scope) => [
    ...(scope === 'project'
      ? ['The files under .cursor now hold a path of this machine: keep them out of version control.']
      : []),
    'Restart Cursor and look into its settings, under MCP: "agent-bus" has to be switched on there.',
    'This was written after Cursor’s documentation and not tried in Cursor itself.',
  ],

  hooks: {
    events,
    fields: {
      chat: 'conversation_id',
      folder: 'workspace_roots',
      tool: 'tool_name',
      toolUse: 'tool_use_id',
      prompt: 'prompt',
    },
    folderVariable: 'CURSOR_PROJECT_DIR',
    // What a hook says before a prompt is shown to the person, not to the model.
    heard: ['session-start', 'after-tool', 'stop'],
    answer: (_event, { context, block }) => {
      if (block !== undefined) return { followup_message: block };
      return context === undefined ? undefined : { additional_context: context };
    },
  },
};
