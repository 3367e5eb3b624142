import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agentLines } from '../../src/cli/doctorAgents.ts';
import { hanging, tableRow, wrapText } from '../../src/cli/wrapText.ts';
import type { AgentReach } from '../../src/protocol/reachMessages.ts';

const now = Date.parse('2026-05-12T12:00:00Z');
const dayMs = 24 * 3600_000;

function agent(name: string, change: Partial<AgentReach> = {}): AgentReach {
  return {
    agent: name,
    presence: 'idle',
    last_seen: new Date(now).toISOString(),
    state: 'idle',
    now: { how: 'new chat turn' },
    busy: { how: 'next tool call' },
    end_of_turn: { how: 'before it ends' },
    idle: { how: 'new chat turn' },
    ...change,
  };
}

function gone(name: string, daysAgo: number): AgentReach {
  const way = { blocked: 'it is not there', todo: 'start it again' };
  const last_seen = new Date(now - daysAgo * dayMs).toISOString();
  return agent(name, {
    presence: 'offline',
    state: 'gone',
    last_seen,
    now: way,
    busy: way,
    end_of_turn: way,
    idle: way,
  });
}

describe('the agents on doctor’s screen', () => {
  test('in columns; who needs the person first, who is away last and counted after a week', () => {
    const asks = agent('infra', { state: 'approval', now: { blocked: 'waits for you', todo: 'answer it' } });
    const old = Array.from({ length: 17 }, (_, i) => gone(`old-${i}`, 8 + i));
    const agents = [gone('yesterday', 1), agent('web'), asks, ...old];
    assert.deepEqual(agentLines(agents, { all: false, now }).slice(0, 5), [
      'Agents                is        while busy      end of turn     while idle',
      '! infra               asks you  next tool call  before it ends  new chat turn',
      '    now: waits for you',
      '    → answer it',
      '✓ web                 idle      next tool call  before it ends  new chat turn',
    ]);
    const lines = agentLines(agents, { all: false, now });
    assert.match(lines[5] ?? '', /^- yesterday {11}offline {3}last seen .*; messages wait for it$/);
    assert.equal(lines[6], '  17 more not seen for a week: agent-bus doctor --all');
    assert.equal(agentLines(agents, { all: true, now }).filter((line) => line.startsWith('- old-')).length, 17);
  });

  test('many that left lately are counted as well', () => {
    const agents = Array.from({ length: 14 }, (_, i) => gone(`gone-${i}`, 0.1));
    assert.equal(agentLines(agents, { all: false, now }).at(-1), '  4 more are not there: agent-bus doctor --all');
  });

  test('a reason is told once, with the states that it is about; what can’t be helped is left out', () => {
    const unheard = { blocked: 'no hook was heard', todo: 'approve them' };
    const codex = agent('codex', {
      state: 'unknown',
      now: { how: 'next bus call', ...unheard },
      busy: { how: 'next bus call', ...unheard },
      end_of_turn: unheard,
      idle: { blocked: 'nothing is connected' },
    });
    assert.deepEqual(agentLines([codex], { all: false, now }).slice(1), [
      '! codex               idle      next bus call   no way          no way',
      '    now, while busy, end of turn: no hook was heard',
      '    → approve them',
      '    while idle: nothing is connected',
    ]);
    const fresh = agent('fresh', { busy: { how: 'next bus call', blocked: 'its first turn tells' } });
    assert.equal(agentLines([fresh], { all: false, now }).length, 2);
  });

  test('a long name has a line for itself; a long way goes on below; nothing of others is obeyed', () => {
    const name = 'a-very-long-workspace-name-of-theirs-co';
    const route = { how: 'the route of a product with \u001B[31mmany words' };
    const lines = agentLines([agent(name, { now: route, idle: route })], { all: false, now });
    assert.equal(lines[1], `✓ ${name}`);
    assert.match(lines[2] ?? '', /^ {22}idle {6}next tool call {2}before it ends {2}the route of a$/);
    assert.ok(lines.every((line) => line.length <= 80 && !line.includes('\u001B')));
  });

  test('none yet', () => {
    assert.match(agentLines([], { all: false, now })[1] ?? '', /agent-bus connect/);
  });
});

describe('text in a terminal', () => {
  test('is broken between words, never within one', () => {
    assert.deepEqual(wrapText('one two three', 7), ['one two', 'three']);
    assert.deepEqual(wrapText('abcdefghij kl', 4), ['abcdefghij', 'kl']);
    assert.deepEqual(wrapText('', 4), ['']);
    assert.deepEqual(hanging('Hub  ', 'one two three', 12), ['Hub  one two', '     three']);
    assert.deepEqual(tableRow(['a', 'one two', 'z'], [3, 5, 4]), ['a  one  z', '   two']);
  });
});
