/** The broker's door of a real hub, byte for byte. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { BrokerClient, brokerPort } from '../support/agentTool/brokerClient.ts';
import { HubProcess, until } from '../support/hubProcess.ts';

let hub: HubProcess;
let port: number;
let client: BrokerClient;
before(async () => {
  hub = await HubProcess.start();
  port = await brokerPort(hub);
  client = new BrokerClient(() => port);
});
after(() => hub.dispose());

const ts = '"ts":"\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z"';

/** The golden line as a pattern: everything literal but the times. */
function exactly(line: string): RegExp {
  return new RegExp(`^${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('"ts":"…"', ts)}\n$`);
}

describe('transcripts', () => {
  const golden: [request: string, reply: string][] = [
    ['{"op":"status"}\n', '{"ok":true,"info":"agent-tool-ipc-broker"}'],
    ['{"op":"fetch","mailbox":"A"}\n', '{"ok":true}'],
    ['{"op":"post","to":"A","from":"B","msg":"hi"}\n', '{"ok":true,"info":"queued"}'],
    ['{"op":"post","to":"A","from":"B","msg":"there"}\n', '{"ok":true,"info":"queued"}'],
    ['{"op":"post","to":"10","from":"B","msg":"x"}', '{"ok":true,"info":"queued"}'],
    ['{"op":"post","to":"9","msg":"x"}', '{"ok":true,"info":"queued"}'],
    ['{"op":"status"}', '{"ok":true,"mailboxes":{"10":1,"9":1,"A":2},"info":"agent-tool-ipc-broker"}'],
    ['{"op":"wait","mailbox":"A","timeout":60}\n', '{"ok":true,"message":{"from":"B","msg":"hi","ts":"…"}}'],
    ['{"op":"fetch","mailbox":"A"}\n', '{"ok":true,"messages":[{"from":"B","msg":"there","ts":"…"}]}'],
    ['{"op":"fetch","mailbox":"A"}\n', '{"ok":true}'],
    ['{"OP":"Fetch","mailbox":"A"}', '{"ok":false,"error":"unknown op \\"Fetch\\"; use: post, fetch, wait, status"}'],
    ['{"MAILBOX":"9","Op":"fetch"}', '{"ok":true,"messages":[{"from":"agent-tool","msg":"x","ts":"…"}]}'],
    ['{"op":"fetch","mailbox":"10","x":1}', '{"ok":true,"messages":[{"from":"B","msg":"x","ts":"…"}]}'],
    ['{"op":"post","msg":"x"}', '{"ok":false,"error":"to is required; name the mailbox that the message is for"}'],
    ['{"op":"post","to":"A","from":"B"}', '{"ok":false,"error":"msg is required; give the text of the message"}'],
    ['{"op":"fetch"}', '{"ok":false,"error":"mailbox is required; name your mailbox"}'],
    ['{"op":"wait"}', '{"ok":false,"error":"mailbox is required; name your mailbox"}'],
    ['{}', '{"ok":false,"error":"unknown op \\"\\"; use: post, fetch, wait, status"}'],
    [
      '{"op":"wait","mailbox":"A","timeout":1}',
      '{"ok":false,"error":"wait timed out after 1s -- no message in mailbox \\"A\\"; wait again, or fetch later"}',
    ],
    [
      '{"op":"post","to":5}',
      '{"ok":false,"error":"invalid JSON: \\"to\\" is not a string; send for example {\\"op\\":\\"post\\",\\"to\\":\\"agentB\\",\\"from\\":\\"agentA\\",\\"msg\\":\\"hello\\"}"}',
    ],
    ['{"op":"status"}', '{"ok":true,"info":"agent-tool-ipc-broker"}'],
  ];

  test('are those of the original, with a next step in each error', async () => {
    for (const [request, reply] of golden) {
      assert.match(await client.transcript([request]), exactly(reply), request);
    }
  });

  test('are the same when the client shuts its side first', async () => {
    assert.match(
      await client.transcript(['{"op":"post","to":"half","from":"B","msg":"hi"}'], 'half-close'),
      exactly('{"ok":true,"info":"queued"}'),
    );
    assert.match(
      await client.transcript(['{"op":"fetch","mailbox":"half"}'], 'half-close'),
      exactly('{"ok":true,"messages":[{"from":"B","msg":"hi","ts":"…"}]}'),
    );
    assert.match(await client.transcript(['{"op":"fetch","mailbox":"half"}'], 'half-close'), exactly('{"ok":true}'));
    assert.match(
      await client.transcript([' {"op":"sta'], 'half-close'),
      /^\{"ok":false,"error":"invalid JSON: the connection ended before/,
    );
    assert.match(await client.transcript([], 'half-close'), /^\{"ok":false,"error":"invalid JSON: /);
  });

  test('of a waiter that shuts its side begin with blanks, which JSON passes over', async () => {
    const waiting = client.transcript(['{"op":"wait","mailbox":"quiet","timeout":60}\n'], 'half-close');
    await until('it waits', async () => 'quiet' in (await client.status()));
    await client.tell('B', 'quiet', 'hi');
    const heard = await waiting;
    assert.match(heard, new RegExp(`^ *\\{"ok":true,"message":\\{"from":"B","msg":"hi",${ts}\\}\\}\n$`));
    assert.equal((JSON.parse(heard) as { ok: boolean }).ok, true);
    assert.deepEqual(await client.texts('quiet'), []);
  });

  test('do not depend on how the request is cut, nor on what follows it', async () => {
    const request = Buffer.from('{"op":"post","to":"cut","from":"é","msg":"\u{1f600} \\" {"}');
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: request.length - 1 }), { maxLength: 6 }),
        fc.constantFrom('', '\n', '\r\n', '{"op":"status"}\n', '}}}}'),
        async (places, rest) => {
          const cuts = [0, ...places.sort((a, b) => a - b), request.length];
          const pieces = cuts.slice(1).map((end, i) => request.subarray(cuts[i], end));
          assert.equal(await client.transcript([...pieces, rest]), '{"ok":true,"info":"queued"}\n');
          const [got, ...more] = await client.fetch('cut');
          assert.deepEqual([got?.from, got?.msg, more], ['é', '\u{1f600} " {', []]);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('the door', () => {
  test('lets agents of the bus and sessions of agent-tool talk, threads and receipts kept', async () => {
    const [ann] = await hub.strangers(1);
    await client.tell('Worker', ann.agent, 'ready');
    const asking = ann.call('send', {
      to: 'worker',
      text: 'what does GET /orders return?',
      kind: 'request',
      wait_seconds: 40,
    });
    const question = (await client.wait('Worker', 40)).message;
    assert.deepEqual([question?.from, question?.msg], [ann.agent, 'what does GET /orders return?']);
    await client.tell('Worker', question?.from ?? '', 'a list of orders');
    const { data } = await asking;
    assert.equal(data.request, 'answered');
    assert.equal(data.answer?.text, 'a list of orders');
    assert.equal(data.answer?.conversation, data.conversation);
    const { data: receipt } = await ann.call('status', { id: data.id });
    assert.deepEqual(
      receipt.recipients[0]?.steps.map(({ step, route }) => [step, route]),
      [
        ['offered', 'broker'],
        ['shown', 'broker'],
        ['replied', undefined],
      ],
    );
  });

  test('shows who waits, and the person writes to it', async () => {
    const person = await hub.client();
    const waiting = client.wait('On Call', 40);
    const seen = await until('it is seen', async () =>
      (await person.call('agents', {})).data.agents.find(({ name }) => name === 'on-call'),
    );
    assert.deepEqual([seen.presence, seen.product, seen.reach], ['waiting', 'agent-tool', ['waiting call']]);
    await person.call('send', { to: 'on-call', text: 'go on' });
    const { message } = await waiting;
    assert.deepEqual([message?.from, message?.msg], ['person', 'go on']);
    await client.tell('On Call', 'person', 'gone on');
    const { data } = await person.call('inbox', { from: 'on-call' });
    assert.deepEqual(
      data.messages.map(({ text }) => text),
      ['gone on'],
    );
  });

  test('tells waiters that the hub restarts, and is open again afterwards, with all mail', async () => {
    await client.tell('a', 'later', 'one', 'two');
    const waiting = client.wait('restart', 60);
    await until('it waits', async () => 'restart' in (await client.status()));
    await hub.stop();
    assert.deepEqual(await waiting, {
      ok: false,
      error: 'broker stopped while waiting: the hub is restarting; wait again',
    });
    await hub.start();
    port = await brokerPort(hub);
    assert.deepEqual(await client.texts('later'), ['one', 'two']);
  });

  test('switched off, tells waiters so; what was queued is there when it is on again', async () => {
    const person = await hub.client();
    await client.tell('a', 'kept', 'still here');
    const waiting = client.wait('off', 60);
    await until('it waits', async () => 'off' in (await client.status()));
    const off = await person.request('door', { door: 'broker', on: false });
    assert.equal(off.open, false);
    assert.match((await waiting).error ?? '', /^the broker was switched off while you waited; nothing was lost/);
    await assert.rejects(client.status(), /ECONNREFUSED/);
    port = await brokerPort(hub);
    assert.deepEqual(await client.texts('kept'), ['still here']);
  });

  test('says that its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const person = await hub.client();
    const address = other.address();
    const taken = typeof address === 'object' && address ? address.port : 0;
    try {
      await assert.rejects(person.request('door', { door: 'broker', on: true, port: taken }), {
        code: 'door-taken',
        message: new RegExp(`Port ${taken} is in use`),
      });
    } finally {
      other.close();
      await person.request('door', { door: 'broker', on: true, port: 0 });
      port = await brokerPort(hub);
    }
  });
});
