import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gemini } from '../products/gemini.ts';
import { text, withCarriageReturns, type Configuration } from './configuration.ts';

/** One file for everything: JSON with comments, with no comma too many and without a byte order mark. */
export const geminiConfiguration: Configuration = {
  product: gemini,

  full: (_room, { server, hook }) => ({
    '.gemini/settings.json': withCarriageReturns(
      text(
        '// Mine, and the "agent-bus" is not in it.',
        '{',
        '    "security": {"auth": {"selectedType": "gemini-api-key"}, /* no dialog */ "folderTrust": {"enabled": false}},',
        '',
        '',
        '    "hooks" : { // a sound at the end',
        `        "AfterAgent": [{"hooks": [{"name": "mine", "type": "command", "command": ${JSON.stringify(hook)}}]}]`,
        '        /* no more { hooks } */',
        '    },',
        `    "mcpServers": {"docs": ${JSON.stringify(server)} },`,
        '  "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}',
        '    // , "mcpServers": {}',
        '}',
        '// the end',
      ),
    ),
  }),

  broken: [{ path: '.gemini/settings.json', text: text('{', '  // mine', '  "ui": { "theme": Dark }', '}'), line: 3 }],

  bare: (room, prompt) => {
    // The project's own settings say what a dialog would ask for.
    mkdirSync(join(room.workspace, '.gemini'), { recursive: true });
    const settings = { security: { auth: { selectedType: 'gemini-api-key' } } };
    writeFileSync(join(room.workspace, '.gemini', 'settings.json'), JSON.stringify(settings));
    return gemini.headless(room, prompt);
  },
  list: (room) => ({ ...gemini.headless(room, ''), args: ['mcp', 'list'] }),
  listed: (name) => new RegExp(`${name}: .* Connected$`, 'm'),
};
