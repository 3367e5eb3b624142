import { codex, scripted } from '../products/codex.ts';
import { text, withCarriageReturns, type Configuration } from './configuration.ts';

/** TOML with all that TOML has; the hooks are strict JSON without a byte order mark, or they are skipped silently. */
export const codexConfiguration: Configuration = {
  product: codex,

  full: (room, { server, hook }) => ({
    '.codex/config.toml': `\uFEFF${withCarriageReturns(
      text(
        '# How I like it. [mcp_servers.agent-bus] would be a table.',
        'model   = "scripted"   # not a real one',
        "model_provider = 'scripted'",
        'check_for_update_on_startup=false',
        '',
        '[mcp_servers.docs] # first of all',
        `args = ${JSON.stringify(server.args)}`,
        `command = ${JSON.stringify(server.command)}`,
        '  [mcp_servers.docs.env]',
        '  NOTE = """',
        '[mcp_servers.agent-bus]',
        'command = "not this one"',
        '"""',
        '',
        `[projects.${JSON.stringify(room.workspace)}]`,
        'trust_level = "trusted"',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${room.model.url}/v1"`,
        'env_key = "SCRIPTED_KEY"',
        'wire_api = "responses"',
        '# the end, without an end of the line',
      ),
    )}`,
    '.codex/hooks.json': text(
      '{"hooks":',
      `  {"Stop": [ {"hooks": [{"type":"command", "command": ${JSON.stringify(hook)}, "timeout": 5}]} ]}`,
      '}',
    ),
  }),

  broken: [
    {
      path: '.codex/config.toml',
      text: text('model = "x"', '', '[mcp_servers.docs]', 'command = docs', ''),
      line: 4,
    },
    { path: '.codex/hooks.json', text: text('{', '  "hooks": {', '    "Stop": [ { "hooks": [ } ]', '}'), line: 3 },
  ],

  bare: (room, prompt) => {
    const launch = codex.headless(room, prompt);
    return { ...launch, args: [...scripted(room), ...launch.args] };
  },
  list: (room) => ({ ...codex.headless(room, ''), args: ['mcp', 'list'] }),
  listed: (name) => new RegExp(`^${name} .* enabled `, 'm'),
};
