import { claude } from '../products/claude.ts';
import { text, withCarriageReturns, type Configuration } from './configuration.ts';

/** Strict JSON in both files, with a byte order mark and carriage returns if need be; comments make it skip its settings silently. */
export const claudeConfiguration: Configuration = {
  product: claude,

  full: (room, { server, hook }) => ({
    '.claude.json': `\uFEFF${withCarriageReturns(
      text(
        '{',
        '\t"numStartups": 41,   "theme":"dark",',
        '\t"hasCompletedOnboarding": true,',
        '\t"customApiKeyResponses": { "approved": ["dummy"], "rejected": [] },',
        `\t"mcpServers" : {"docs": ${JSON.stringify({ type: 'stdio', ...server })}},`,
        `\t"projects": { ${JSON.stringify(room.workspace)}: {"hasTrustDialogAccepted": true, "mcpServers": {} } },`,
        '\t"tipsHistory": {"agent-bus": 3}',
        '}',
        '',
      ),
    )}`,
    '.claude/settings.json': text(
      '{ "permissions": {"allow": ["Bash(ls:*)"],',
      '      "deny": [ ] },',
      '',
      '  "hooks": {',
      `    "Stop": [{"hooks": [{"type": "command", "command": ${JSON.stringify(hook)}}]}],`,
      '    "PreToolUse": []',
      '  }, "includeCoAuthoredBy": false }',
    ),
  }),

  broken: [
    { path: '.claude.json', text: text('{', '  "theme": "dark"', '  "numStartups": 3', '}'), line: 3 },
    { path: '.claude/settings.json', text: text('{', '', '  "hooks": {', '    "Stop": [}', '  }', '}'), line: 4 },
  ],

  bare: (room, prompt) => claude.headless(room, prompt),
  list: (room) => ({ ...claude.headless(room, ''), args: ['mcp', 'list'] }),
  listed: (name) => new RegExp(`^${name}: .* Connected$`, 'm'),
};
