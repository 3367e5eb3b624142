/** A small bus behind the real HTTP door and MCP route, which a test can look into. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BusError } from '../../src/core/errors.ts';
import type { Caller } from '../../src/core/model.ts';
import type { ModelAnswer, ToolListing } from '../../src/tools/answer.ts';
import { bearer, loopbackGuard } from '../../src/transports/guard.ts';
import { openHttpDoor, type HttpDoor } from '../../src/transports/httpDoor.ts';
import { Beat } from '../../src/transports/mcp/beat.ts';
import { mcpHttp, type McpHttpRoute } from '../../src/transports/mcp/mcpHttp.ts';
import { createBusServer, type McpCall, type McpFace } from '../../src/transports/mcp/mcpServer.ts';
import type { SessionLimits } from '../../src/transports/mcp/sessions.ts';

const listing = (name: string): ToolListing => ({
  name,
  title: name,
  description: `The tool ${name}`,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  _meta: { 'anthropic/alwaysLoad': true },
});

const answer = (text: string, structured: Record<string, unknown> = {}, isError = false): ModelAnswer => ({
  text,
  structured,
  isError,
  shown: [text],
  route: 'tool-result',
});

export class McpBus {
  readonly delivered: string[] = [];
  readonly calls: { name: string; caller: Caller; call: McpCall }[] = [];
  aborted = 0;
  /** Ends the waits that are running. */
  release: ((text: string) => void)[] = [];
  door!: HttpDoor;
  route!: McpHttpRoute;
  private readonly beat = new Beat(60);
  now = Date.now();

  async open(port = 0, sessionLimits: Partial<SessionLimits> = {}): Promise<this> {
    this.route = mcpHttp({
      serverFor: (caller) => createBusServer(this.face(caller), { beat: this.beat }),
      sessionLimits,
      now: () => this.now,
    });
    const agents: Record<string, number> = { 'token-ann': 1, 'token-bob': 2 };
    const authenticate = (token: string): Caller | undefined =>
      agents[token] ? { agent: agents[token], via: 'mcp' } : undefined;
    this.door = await openHttpDoor({
      port,
      guard: loopbackGuard(bearer(authenticate)),
      routes: new Map([['/mcp', this.route]]),
    });
    return this;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.door.port}/mcp`);
  }

  private face(caller: Caller): McpFace {
    return {
      info: { name: 'bus', version: '1.2.3' },
      instructions: 'Be kind.',
      tools: ['echo', 'whoami', 'fail', 'refuse', 'crash', 'wait'].map(listing),
      delivered: (given) => void this.delivered.push(given.text),
      call: async (name, args, call) => {
        this.calls.push({ name, caller, call });
        if (name === 'echo') return answer(String(args['text']), { text: args['text'] });
        if (name === 'whoami') return answer(`agent ${caller.agent}`, { agent: caller.agent });
        if (name === 'fail') return answer('It failed.', { error: { code: 'unknown-agent' } }, true);
        if (name === 'refuse') throw new BusError('rate-limited', 'Too fast.', { next: 'Wait.' });
        if (name === 'crash') throw new Error('secret detail');
        return new Promise((resolve) => {
          this.release.push((text) => resolve(answer(text)));
          call.signal.addEventListener('abort', () => {
            this.aborted++;
            resolve(answer('nobody hears this'));
          });
        });
      },
    };
  }
}

export async function openMcpBus(t: TestContext, port?: number, limits?: Partial<SessionLimits>): Promise<McpBus> {
  const bus = await new McpBus().open(port, limits);
  t.after(() => bus.door.close(0));
  return bus;
}

export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let at = 0; at < 200; at++) {
    if (condition()) return;
    await sleep(10);
  }
  assert.fail(`never happened: ${what}`);
}
