import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isBusTool, permissionFor, readHook, writeHook } from '../../src/cli/hookEvent.ts';
import type { HookForm } from '../../src/connect/products/product.ts';
import { products } from '../../src/connect/products/table.ts';
import { hookEvents, toolPrefix } from '../../src/extension/window/contract.ts';
import { tools } from '../../src/tools/table.ts';

const common = {
  timestamp: '2026-11-16T11:05:08.540Z',
  session_id: 'fc6820f1',
  transcript_path: '/x.jsonl',
  cwd: '/w',
};
const form = products.vscode.hooks as HookForm;
const read = (event: (typeof hookEvents)[number], more: object) =>
  readHook(form, event, JSON.stringify({ ...common, ...more }));

describe('what a hook tells', () => {
  test('each event in the words of the bus', () => {
    assert.deepEqual(read('SessionStart', { source: 'new', model: 'm' }), {
      folder: '/w',
      leaves: false,
      params: { event: 'session-start', chat: 'fc6820f1' },
    });
    assert.deepEqual(read('UserPromptSubmit', { prompt: 'two\nlines é' })?.params, {
      event: 'prompt',
      chat: 'fc6820f1',
      prompt: 'two\nlines é',
    });
    const tool = { tool_name: 'mcp_agent-bus_inbox', tool_input: {}, tool_use_id: 'call_1' };
    assert.deepEqual(read('PreToolUse', tool)?.params, {
      event: 'before-tool',
      chat: 'fc6820f1',
      tool: 'mcp_agent-bus_inbox',
      toolUse: 'call_1',
    });
    assert.equal(read('PostToolUse', { ...tool, tool_response: 'r' })?.params.event, 'after-tool');
    assert.deepEqual(read('Stop', { stop_hook_active: true })?.params, {
      event: 'stop',
      chat: 'fc6820f1',
      again: true,
    });
    assert.equal(read('Stop', { stop_hook_active: false })?.params.again, undefined);
  });

  test('what is not a hook’s JSON tells nothing', () => {
    for (const input of ['', 'x', 'null', '[]', '{}', '{"session_id":5}', '"text"', '{"session_id":""}']) {
      assert.equal(readHook(form, 'Stop', input), undefined, input);
    }
  });

  test('of a huge prompt the end is told, where the mark of a wake is', () => {
    const prompt = `${'x'.repeat(3_000_000)}(wake-1)`;
    const told = read('UserPromptSubmit', { prompt })?.params.prompt ?? '';
    assert.ok(told.length <= 1_000_000);
    assert.ok(told.endsWith('(wake-1)'));
  });
});

describe('what a hook answers', () => {
  test('nothing to say is no output at all', () => {
    for (const event of hookEvents) assert.equal(writeHook(form, event, {}), '');
  });

  test('context, permission and a reason to go on, each where Copilot looks for it', () => {
    const inner = (text: string) => (JSON.parse(text) as { hookSpecificOutput: unknown }).hookSpecificOutput;
    assert.deepEqual(inner(writeHook(form, 'PostToolUse', { context: 'c' })), {
      hookEventName: 'PostToolUse',
      additionalContext: 'c',
    });
    assert.deepEqual(inner(writeHook(form, 'Stop', { block: 'r' })), {
      hookEventName: 'Stop',
      decision: 'block',
      reason: 'r',
    });
    const allow = inner(writeHook(form, 'PreToolUse', {}, 'allow')) as Record<string, unknown>;
    assert.equal(allow['permissionDecision'], 'allow');
  });

  test('in ASCII, whatever the text', () => {
    const context = 'Grüße 👋 \u2028 \u007f';
    const output = writeHook(form, 'UserPromptSubmit', { context });
    assert.match(output, /^[\x20-\x7E]+$/);
    const parsed = JSON.parse(output) as { hookSpecificOutput: { additionalContext: string } };
    assert.equal(parsed.hookSpecificOutput.additionalContext, context);
  });
});

test('every tool of the bus runs without a dialog, and nothing else does', () => {
  for (const name of Object.keys(tools)) assert.ok(isBusTool(`${toolPrefix}${name}`), name);
  for (const name of [undefined, '', 'send', 'mcp_other_send', 'mcp_agent-bus2_send', 'mcp_agent-bus_sendx']) {
    assert.ok(!isBusTool(name), name);
  }
  assert.ok(!isBusTool('mcp_agent-bus_run_in_terminal'));
  assert.ok(!isBusTool('xmcp_agent-bus_send'));
});

test('a tool of the bus that is given an address asks the person, whatever is set', () => {
  const decision = (tool: string, tool_input: unknown, confirmAll = false) => {
    const call = read('PreToolUse', { tool_name: `${toolPrefix}${tool}`, tool_use_id: 'u', tool_input });
    return call && permissionFor(call, confirmAll);
  };
  const leaving: [string, unknown][] = [
    ['register', { url: 'https://agents.example' }],
    ['send', { to: 'tcp://192.168.1.7:19900', text: 'x' }],
    ['send', { to: ['alice', 'http://agents.example'], text: 'x' }],
    ['ping', { to: 'HTTPS://agents.example/?text' }],
    ['send', JSON.stringify({ to: 'https://agents.example', text: 'x' })],
  ];
  for (const [tool, input] of leaving) {
    assert.equal(decision(tool, input), 'ask', JSON.stringify(input));
    assert.equal(decision(tool, input, true), 'ask');
  }
  const staying = [
    { to: 'alice', text: 'see https://agents.example' },
    { to: ['alice', '#release'] },
    {},
    null,
    'x',
    5,
  ];
  for (const input of staying) assert.equal(decision('send', input), 'allow', JSON.stringify(input));
  assert.equal(decision('send', { to: 'alice' }, true), undefined);
  assert.equal(decision('run_in_terminal', { url: 'https://agents.example' }), undefined, 'not ours to decide');
});

test('the plugin names every event, and each by a name that the command knows', () => {
  const file = join(import.meta.dirname, '..', '..', 'plugin', 'hooks', 'hooks.json');
  const { hooks } = JSON.parse(readFileSync(file, 'utf8')) as {
    hooks: Record<string, { hooks: { type: string; command: string; windows: string; timeout: number }[] }[]>;
  };
  assert.deepEqual(Object.keys(hooks), [...hookEvents]);
  for (const [event, [entry]] of Object.entries(hooks)) {
    assert.ok(Object.hasOwn(form.events, event));
    const command = entry?.hooks[0];
    assert.equal(command?.type, 'command');
    assert.equal(command?.command, `sh "\${CLAUDE_PLUGIN_ROOT}/hook.sh" ${event}`);
    assert.equal(command?.windows, `& "\${CLAUDE_PLUGIN_ROOT}\\hook.cmd" ${event}`);
  }
});
