/** An agent as most are deployed: the 1.x SDK's MCP client over HTTP, with its own token. */
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ErrorShape } from '../../src/core/errors.ts';
import type { MessageView } from '../../src/core/model.ts';
import { patienceMs, type HubProcess } from './hubProcess.ts';
import type { Parsed } from './cliProcess.ts';
import type { McpReply } from './mcpCaller.ts';

export class McpAgent {
  readonly name: string;
  readonly token: string;
  private readonly client: Client;

  private constructor(name: string, token: string, client: Client) {
    this.name = name;
    this.token = token;
    this.client = client;
  }

  static async connect(hub: HubProcess, name: string, token?: string): Promise<McpAgent> {
    const own = token ?? (await hub.mint(name));
    const client = new Client({ name: 'test-agent', version: '1' });
    const headers = { Authorization: `Bearer ${own}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(hub.record.mcpUrl), { requestInit: { headers } }));
    return new McpAgent(name, own, client);
  }

  /** @param onProgress hears what the hub tells while the call waits */
  async call(tool: string, args: object = {}, onProgress?: (message: string) => void): Promise<McpReply> {
    const result = await this.client.callTool({ name: tool, arguments: { ...args } }, undefined, {
      timeout: patienceMs,
      ...(onProgress && { onprogress: ({ message }) => onProgress(message ?? '') }),
    });
    const [content] = result.content as [{ text: string }];
    return {
      text: content.text,
      structured: (result.structuredContent ?? {}) as Record<string, unknown>,
      isError: result.isError === true,
    };
  }

  /** Has to work, and gives the data. */
  async ok(tool: string, args: object = {}): Promise<Parsed> {
    const { isError, structured, text } = await this.call(tool, args);
    assert.equal(isError, false, `${this.name}: ${tool} ${JSON.stringify(args).slice(0, 200)}: ${text.slice(0, 500)}`);
    return structured;
  }

  /** Has to be refused, with a hint; gives the error. */
  async refused(tool: string, args: object = {}): Promise<ErrorShape> {
    const { isError, structured, text } = await this.call(tool, args);
    assert.equal(isError, true, `${this.name}: ${tool} was accepted: ${text.slice(0, 500)}`);
    const error = structured['error'] as ErrorShape;
    assert.ok(error.code && error.message && error.next, text);
    return error;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** The text of a message as its sender wrote it, without the fence around it and without data. */
export function bodyOf({ text }: Pick<MessageView, 'text'>): string {
  return /^<message [^\n]*>\n([^]*?)(?:\n<bus-[^]*)?\n<\/message>$/.exec(text)?.[1] ?? text;
}
