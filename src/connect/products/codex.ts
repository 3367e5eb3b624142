import { join } from 'node:path';
import { claudeFields, groupedHooks, nestedAnswers } from './claudeForm.ts';
import { serverName, type Json, type Place, type Product } from './product.ts';

const events = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt',
  PostToolUse: 'after-tool',
  Stop: 'stop',
} as const;

export const codex: Product = {
  name: 'codex',
  title: 'Codex',
  agent: 'codex',
  client: 'codex-mcp-client',
  programs: ['codex'],
  folder: codexFolder,

  files(place, scope, hooks) {
    const folder = scope === 'user' ? codexFolder(place) : join(place.project, '.codex');
    const entries = hooks
      ? groupedHooks(Object.keys(events), (event) => ({
          type: 'command',
          command: place.launch.native('hook', 'codex', event),
          timeout: 5,
        }))
      : [];
    const server: Json = {
      ...place.launch.server('--product', 'codex'),
      // Codex hands on little of its environment, and the bridge has to find its server.
      ...(scope === 'user' && place.env['CODEX_HOME'] && { env_vars: ['CODEX_HOME'] }),
    };
    return [
      {
        path: join(folder, 'config.toml'),
        format: 'toml',
        parts: [{ kind: 'server', at: ['mcp_servers', serverName], value: server }],
      },
      { path: join(folder, 'hooks.json'), format: 'json', parts: entries },
    ];
  },

  remains: (scope, hooks) => [
    ...(scope === 'project' ? ['Codex reads a project’s settings only where you have trusted the folder.'] : []),
    ...(hooks
      ? [
          'Start Codex and approve the hooks of agent-bus when it asks for their review (or with /hooks). ' +
            'Until then Codex skips them without a word, and messages arrive with tool calls of the bus only.',
        ]
      : []),
  ],

  review: 'open Codex and approve them with /hooks',

  hooks: {
    events,
    fields: claudeFields,
    heard: ['session-start', 'prompt', 'after-tool', 'stop'],
    answer: nestedAnswers,
  },
  session: { meta: 'threadId' },
};

function codexFolder({ env, home }: Place): string {
  return env['CODEX_HOME'] || join(home, '.codex');
}
