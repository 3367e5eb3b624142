/** Two MCP clients hold a conversation while the hub is killed under them, again and again. Nothing is lost or doubled. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { HubProcess } from '../support/hubProcess.ts';

let hub: HubProcess;
const tokens: Record<string, string> = {};

before(async () => {
  hub = await HubProcess.start();
  const person = await hub.client();
  for (const name of ['ann', 'bob', 'carol', 'dave']) tokens[name] = (await person.request('mint', { name })).token;
});
after(() => hub.dispose());

type Structured = Record<string, unknown> & { messages?: { id: string; text: string; from: string }[] };
type Call = (name: string, args: Record<string, unknown>) => Promise<Structured>;

const headers = (name: string): { requestInit: { headers: Record<string, string> } } => ({
  requestInit: { headers: { Authorization: `Bearer ${tokens[name] ?? ''}` } },
});

/** Repeats a call whose connection was cut, as an agent would. */
async function persistently(call: () => Promise<unknown>): Promise<Structured> {
  for (let attempt = 0; ; attempt++) {
    try {
      const result = (await call()) as { structuredContent: Structured; isError?: boolean; content: unknown };
      assert.ok(!result.isError, JSON.stringify(result.content));
      return result.structuredContent;
    } catch (error) {
      if (attempt >= 200 || error instanceof assert.AssertionError) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function v1(name: string): Promise<Call> {
  const client = new ClientV1({ name: 'gemini-cli-mcp-client', version: '1' });
  await client.connect(new TransportV1(new URL(hub.record.mcpUrl), headers(name)));
  return (tool, args) => persistently(() => client.callTool({ name: tool, arguments: args }));
}

async function v2(name: string): Promise<Call> {
  const client = new Client({ name: 'claude-code', version: '2' });
  await client.connect(new StreamableHTTPClientTransport(new URL(hub.record.mcpUrl), headers(name)));
  return (tool, args) => persistently(() => client.callTool({ name: tool, arguments: args }));
}

test('a conversation survives ten kills of the hub', async () => {
  const [ann, bob] = [await v1('ann'), await v2('bob')];
  const url = hub.record.mcpUrl;
  for (let round = 0; round < 10; round++) {
    const asked = await ann('send', { to: 'bob', text: `question ${round}`, kind: 'request', key: `q${round}` });
    hub.child?.kill('SIGKILL');
    await hub.start();
    assert.equal(hub.record.mcpUrl, url, 'the address stays');
    const mail = await bob('inbox', {});
    assert.deepEqual(
      mail.messages?.map(({ id, from }) => [id, from]),
      [[asked['id'], 'ann']],
    );
    assert.match(mail.messages?.[0]?.text ?? '', new RegExp(`\nquestion ${round}\n`));
    await bob('send', { reply_to: asked['id'], text: `answer ${round}`, key: `a${round}` });
    hub.child?.kill('SIGKILL');
    await hub.start();
    const status = await ann('status', { id: asked['id'] });
    assert.equal((status['request'] as { state: string }).state, 'answered');
  }
  const history = await ann('conversation', { with: 'bob', limit: 50 });
  const texts = history.messages?.map(({ text }) => /\n(.*)\n/.exec(text)?.[1]);
  assert.deepEqual(texts, Array.from({ length: 10 }, (_, i) => [`question ${i}`, `answer ${i}`]).flat());
});

test('an answer reaches a waiting asker over the restart that it waits through', async () => {
  // Not those of above: what a kill has made unread again would be found here.
  const [carol, dave] = [await v2('carol'), await v1('dave')];
  const sent = await carol('send', { to: 'dave', text: 'slow question', kind: 'request', key: 'slow' });
  const waiting = carol('inbox', { wait_seconds: 40, kind: 'reply', conversation: sent['conversation'] });
  hub.child?.kill('SIGKILL');
  await hub.start();
  await dave('send', { reply_to: sent['id'], text: 'slow answer', key: 'slow-answer' });
  const mail = await waiting;
  assert.match(mail.messages?.at(-1)?.text ?? '', /slow answer/);
});
