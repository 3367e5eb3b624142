/** Whoever calls a tool wrongly is told what is wrong and what to do about it: most callers are models and act on it. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import type { ErrorShape } from '../../src/core/errors.ts';
import { limits } from '../../src/core/limits.ts';
import type { ModelAnswer } from '../../src/tools/answer.ts';
import { listTools, tools } from '../../src/tools/table.ts';
import { unitBus } from '../support/unitBus.ts';

function errorOf(answer: ModelAnswer, what: string): ErrorShape {
  assert.equal(answer.isError, true, `${what} was accepted: ${answer.text}`);
  const { code, message, next } = answer.structured['error'] as ErrorShape;
  assert.notEqual(code, 'internal', what);
  assert.ok(message.length > 10, `${what}: no message`);
  assert.ok(next.length > 10, `${what}: no next step`);
  assert.ok(answer.text.startsWith(`${code}: `) && answer.text.length > code.length + 20, what);
  return { code, message, next };
}

test('arguments of the wrong form: every tool names the ones that it takes', async (t) => {
  const { call, agent } = await unitBus(t);
  const ann = await agent('ann');
  for (const { name, inputSchema } of listTools()) {
    const properties = Object.keys(inputSchema['properties'] as object);
    const wrong: unknown[] = ['text', 42, true, [], [{}], { nonsense: 1 }, JSON.parse('{"__proto__":1,"x":2}')];
    for (const property of properties) {
      if (property === 'data') continue;
      for (const value of [{}, Number.NaN, null, { length: 1 }, [[]]]) wrong.push({ [property]: value });
    }
    for (const args of wrong) {
      const what = `${name} ${JSON.stringify(args)}`;
      const { code, next } = errorOf(await call(ann, name, args), what);
      assert.equal(code, 'invalid-input', what);
      for (const property of properties) assert.match(next, new RegExp(`\\b${property}\\b`), what);
    }
  }
});

test('calls that can not be done: each has its code and a next step of its own', async (t) => {
  const { bus, call, agent } = await unitBus(t);
  const [ann, bob, eve] = [await agent('ann'), await agent('bob'), await agent('eve')];
  await bus.roster.create({ name: 'gone' }).then((gone) => bus.remove(gone));
  await call(bob, 'channel', { action: 'create', name: 'release' });
  const told = (await call(ann, 'send', { to: 'bob', text: 'told', key: 'k' })).structured;
  const asked = (await call(ann, 'send', { to: 'bob', text: 'asked', kind: 'request' })).structured;
  const cases: [tool: string, args: Record<string, unknown>, code: string, next: RegExp][] = [
    ['agents', { limit: 0 }, 'invalid-input', /limit/],
    ['agents', { skill: 'x'.repeat(limits.skillLength + 1) }, 'invalid-input', /skill/],
    ['send', { to: 'bob' }, 'invalid-input', /text/],
    ['send', { text: 'to nobody' }, 'invalid-input', /`to`/],
    ['send', { to: 'eve', text: 'to myself' }, 'invalid-input', /`to`/],
    ['send', { to: 'bop', text: 'x' }, 'unknown-agent', /"bob"/],
    ['send', { to: 'gone', text: 'x' }, 'agent-removed', /agents/],
    ['send', { to: '#nowhere', text: 'x' }, 'unknown-channel', /create/],
    ['send', { to: '#release', text: 'x' }, 'not-a-member', /join/],
    ['send', { to: ['#release', 'bob'], text: 'x' }, 'invalid-input', /once/],
    ['send', { to: 'gopher://x', text: 'x' }, 'invalid-input', /tcp:\/\//],
    ['send', { to: 'x'.repeat(limits.addressLength + 1), text: 'x' }, 'invalid-input', /to/],
    ['send', { to: 'bob', text: 'x'.repeat(limits.textBytes + 1) }, 'too-large', /file/],
    ['send', { to: 'bob', text: 'é'.repeat(limits.textBytes / 2 + 1) }, 'too-large', /file/],
    ['send', { to: 'bob', text: '\ud83d' }, 'invalid-input', /UTF-8/],
    ['send', { reply_to: 'm999', text: 'x' }, 'unknown-message', /inbox/],
    ['send', { reply_to: told['id'], text: 'x' }, 'unknown-message', /inbox/],
    ['send', { to: 'bob', text: 'x', wait_seconds: limits.waitSeconds + 1 }, 'invalid-input', /wait_seconds/],
    ['inbox', { from: 'nobody-at-all' }, 'unknown-agent', /agents/],
    ['inbox', { filter: 'unread' }, 'invalid-input', /filter/],
    ['inbox', { conversation: told['conversation'] }, 'unknown-conversation', /conversations/],
    ['inbox', { cursor: 'next' }, 'invalid-input', /page before/],
    ['ack', { ids: [] }, 'invalid-input', /ids/],
    ['ack', { ids: ['m999'] }, 'unknown-message', /inbox/],
    ['ack', { ids: [told['id']] }, 'unknown-message', /inbox/],
    ['ack', { ids: ['m1'], outcome: 'maybe' }, 'invalid-input', /outcome/],
    ['status', { id: 'm999' }, 'unknown-message', /inbox/],
    ['status', { id: asked['id'], cancel: true }, 'unknown-message', /inbox/],
    ['status', { cancel: true }, 'invalid-input', /`id`/],
    ['status', { id: 'm1', state: 'pending' }, 'invalid-input', /`id`/],
    ['status', { state: 'done' }, 'invalid-input', /state/],
    ['status', { cursor: 'next' }, 'invalid-input', /page before/],
    ['conversations', { query: '' }, 'invalid-input', /query/],
    ['conversations', { query: 'x', conversation: told['conversation'] }, 'unknown-conversation', /conversations/],
    ['conversation', {}, 'invalid-input', /conversations/],
    ['conversation', { id: 'c1', with: 'bob' }, 'invalid-input', /conversations/],
    ['conversation', { id: told['conversation'] }, 'unknown-conversation', /conversations/],
    ['conversation', { id: told['id'] }, 'unknown-message', /inbox/],
    ['conversation', { id: 'bop' }, 'unknown-agent', /"bob"/],
    ['conversation', { with: 'ann' }, 'unknown-conversation', /send/],
    ['conversation', { with: '#release' }, 'not-a-member', /join/],
    ['conversation', { id: '#release' }, 'not-a-member', /join/],
    ['channel', { action: 'create' }, 'invalid-input', /`name`/],
    ['channel', { action: 'create', name: 'Ü' }, 'invalid-name', /a–z/],
    ['channel', { action: 'create', name: 'release' }, 'channel-taken', /join/],
    ['channel', { action: 'join', name: 'nowhere' }, 'unknown-channel', /create/],
    ['channel', { action: 'leave', name: 'release' }, 'not-a-member', /mine/],
    ['channel', { action: 'post', name: 'release' }, 'invalid-input', /action/],
    ['register', { name: 'bob' }, 'name-taken', /bob-2/],
    ['register', { name: 'Bob' }, 'invalid-name', /bob/],
    ['register', { name: 'system' }, 'name-reserved', /system-agent/],
    ['register', { remove: true, about: 'x' }, 'invalid-input', /alone/],
    ['register', { remove: 'bob', name: 'eve-2' }, 'invalid-input', /alone/],
    ['register', { url: 'https://x.example', skills: ['a'] }, 'invalid-input', /only `url`/],
    ['register', { url: 'https://x.example', open: true }, 'invalid-input', /only `url`/],
    ['register', { skills: Array.from({ length: limits.skills + 1 }, () => 'a') }, 'invalid-input', /skills/],
    ['ping', { to: 'bop' }, 'unknown-agent', /"bob"/],
    ['ping', { to: 'gone' }, 'agent-removed', /agents/],
    ['ping', { to: 'gopher://x' }, 'invalid-input', /tcp:\/\//],
  ];
  for (const [tool, args, code, next] of cases) {
    const what = `${tool} ${JSON.stringify(args).slice(0, 100)}`;
    const error = errorOf(await call(eve, tool, args), what);
    assert.equal(error.code, code, what);
    assert.match(error.next, next, what);
  }
  const tried = new Set(cases.map(([tool]) => tool));
  assert.deepEqual(
    Object.keys(tools).filter((name) => !tried.has(name)),
    [],
  );
  // What needs a state of its own.
  assert.equal(errorOf(await call(ann, 'send', { to: 'bob', text: 'another', key: 'k' }), 'key').code, 'key-conflict');
  await call(ann, 'status', { id: asked['id'], cancel: true });
  const again = errorOf(await call(ann, 'status', { id: asked['id'], cancel: true }), 'cancel twice');
  assert.equal(again.code, 'already-ended');
  assert.equal(errorOf(await call(bus.roster.person, 'register', { open: true }), 'open').code, 'forbidden');
  assert.equal(errorOf(await call(bus.roster.person, 'register', { remove: true }), 'leave').code, 'forbidden');
  const unknown = errorOf(await call(ann, 'send_message', {}), 'an unknown tool');
  assert.equal(unknown.code, 'unknown-tool');
  assert.match(unknown.next, /\bsend\b/);
});

test('no error in the whole source is without a next step', () => {
  const root = join(import.meta.dirname, '..', '..', 'src');
  let found = 0;
  for (const file of globSync('**/*.ts', { cwd: root })) {
    const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      ts.forEachChild(node, visit);
      if (!ts.isNewExpression(node) || node.expression.getText() !== 'BusError') return;
      found++;
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      const options = node.arguments?.[2];
      assert.ok(options, `${file}:${line} has none`);
      // Handed on from somewhere else: it is looked at there.
      if (!ts.isObjectLiteralExpression(options)) return;
      const next = options.properties.find((property) => property.name?.getText() === 'next');
      assert.ok(next, `${file}:${line} has none`);
      if (ts.isPropertyAssignment(next) && ts.isStringLiteralLike(next.initializer))
        assert.ok(next.initializer.text.length > 5, `${file}:${line} is empty`);
    };
    visit(source);
  }
  assert.ok(found > 100, `only ${found} were found`);
});
