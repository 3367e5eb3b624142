import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AgentCard } from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { isLegacyAgentCard, parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client';
import type { AgentRecord } from '../../src/core/model.ts';
import { legacyCard, openCard } from '../../src/transports/a2a/openCard.ts';

const url = 'http://127.0.0.1:4711/a2a/cook';
const cook: AgentRecord = {
  id: 7,
  name: 'cook',
  kind: 'agent',
  about: 'Cooks.',
  workspace: '/home/me/secret-project',
  product: 'copilot',
  skills: ['Soup, hot', 'soup hot', '汤'],
  open: true,
  identity: 'secret',
  created: 0,
  lastSeen: 0,
  removed: false,
};

describe('the card of an open agent', () => {
  test('says what it is, where, and how to be let in', () => {
    const card = AgentCard.fromJSON(JSON.parse(JSON.stringify(AgentCard.toJSON(openCard(cook, url, '1.2.3')))));
    assert.deepEqual([card.name, card.description, card.version], ['cook', 'Cooks.', '1.2.3']);
    assert.deepEqual(
      card.supportedInterfaces.map((one) => [one.protocolBinding, one.protocolVersion, one.url]),
      [
        ['JSONRPC', '1.0', url],
        ['HTTP+JSON', '1.0', url],
        ['JSONRPC', '0.3', url],
        ['HTTP+JSON', '0.3', url],
      ],
    );
    const { streaming, pushNotifications, extendedAgentCard } = card.capabilities ?? {};
    assert.deepEqual([streaming, pushNotifications, extendedAgentCard], [true, false, false]);
    const scheme = card.securitySchemes['bearer']?.scheme;
    assert.equal(scheme?.$case === 'httpAuthSecurityScheme' && scheme.value.scheme, 'bearer');
    assert.deepEqual(Object.keys(card.securityRequirements[0]?.schemes ?? {}), ['bearer']);
  });

  test('has a skill for each that the agent names, with ids of their own, or a general one', () => {
    const skills = openCard(cook, url, '1').skills;
    assert.deepEqual(
      skills.map(({ name }) => name),
      cook.skills,
    );
    assert.equal(new Set(skills.map(({ id }) => id)).size, 3);
    for (const { id } of skills) assert.match(id, /^[a-z0-9-]+$/);
    const [general, ...others] = openCard({ ...cook, skills: [], about: '' }, url, '1').skills;
    assert.equal(general?.id, 'general');
    assert.deepEqual(others, []);
    assert.notEqual(openCard({ ...cook, about: '' }, url, '1').description, '');
  });

  test('tells nothing of where the agent works', () => {
    const card = openCard(cook, url, '1');
    for (const text of [JSON.stringify(AgentCard.toJSON(card)), JSON.stringify(legacyCard(card))]) {
      assert.doesNotMatch(text, /secret/);
    }
  });
});

describe('the same card for peers of 0.3', () => {
  const legacy = legacyCard(openCard(cook, url, '1'));

  test('is read by a client of 0.3', () => {
    const { supportedInterfaces: _, ...pure } = legacy;
    assert.ok(isLegacyAgentCard(pure));
    const read = parseLegacyAgentCard(pure);
    assert.equal(read.name, 'cook');
    assert.deepEqual(read.supportedInterfaces.map((one) => [one.protocolBinding, one.url]).slice(0, 2), [
      ['JSONRPC', url],
      ['HTTP+JSON', url],
    ]);
    assert.equal(read.capabilities?.streaming, true);
    const scheme = read.securitySchemes['bearer']?.scheme;
    assert.equal(scheme?.$case === 'httpAuthSecurityScheme' && scheme.value.scheme, 'bearer');
  });

  test('still names the interfaces of 1.0, for a client of 1.0 that did not say so', () => {
    const read = new DefaultAgentCardResolver().normalizeAgentCard(legacy);
    assert.deepEqual(read.supportedInterfaces[0], {
      url,
      protocolBinding: 'JSONRPC',
      protocolVersion: '1.0',
      tenant: '',
    });
  });
});
