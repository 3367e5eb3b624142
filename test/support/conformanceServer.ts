/**
 * The server that the official conformance suite expects: its fixture tools, resources and prompts, on the hub's own
 * door, guard and MCP route. Only who is asking is left out, since the suite sends no token.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  completable,
  fromJsonSchema,
  McpServer,
  ResourceTemplate,
  type CallToolResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { loopbackGuard } from '../../src/transports/guard.ts';
import { openHttpDoor } from '../../src/transports/httpDoor.ts';
import { mcpHttp } from '../../src/transports/mcp/mcpHttp.ts';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

export async function startConformanceServer(
  onError?: (error: unknown) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const report = onError ? { onError } : {};
  const route = mcpHttp({ serverFor: fixtureServer, ...report });
  const door = await openHttpDoor({
    port: 0,
    guard: loopbackGuard(() => ({ agent: 1, via: 'mcp' })),
    routes: new Map([['/mcp', route]]),
    ...report,
  });
  return { url: `http://127.0.0.1:${door.port}/mcp`, close: () => door.close(0) };
}

function fixtureServer(): McpServer {
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    { capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} } },
  );
  addPlainTools(server);
  addTalkingTools(server);
  addAskingTools(server);
  addResources(server);
  addPrompts(server);
  return server;
}

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

function addPlainTools(server: McpServer): void {
  server.registerTool('test_simple_text', { description: 'Returns text' }, () =>
    text('This is a simple text response for testing.'),
  );
  server.registerTool('test_image_content', { description: 'Returns an image' }, () => ({
    content: [{ type: 'image', data: png, mimeType: 'image/png' }],
  }));
  server.registerTool('test_audio_content', { description: 'Returns audio' }, () => ({
    content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  }));
  server.registerTool('test_embedded_resource', { description: 'Returns a resource' }, () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }));
  server.registerTool('test_multiple_content_types', { description: 'Returns several kinds' }, () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: png, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ],
  }));
  server.registerTool('test_error_handling', { description: 'Always fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  const schema = fromJsonSchema<{ name?: string }>({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  });
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Tool with JSON Schema 2020-12 features', inputSchema: schema },
    () => text('fine'),
  );
}

function addTalkingTools(server: McpServer): void {
  server.registerTool('test_tool_with_logging', { description: 'Logs while it runs' }, async (ctx: ServerContext) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await ctx.mcpReq.log('info', line);
      await sleep(50);
    }
    return text('Logged.');
  });
  server.registerTool('test_tool_with_progress', { description: 'Reports progress' }, async (ctx: ServerContext) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await sleep(50);
    }
    return text('Progressed.');
  });
  server.registerTool('test_reconnection', { description: 'Answers after a while' }, async () => {
    await sleep(100);
    return text('Still here.');
  });
}

function addAskingTools(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, ctx) => {
      const params = {
        messages: [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }],
        maxTokens: 100,
      };
      const answer = await server.server.createMessage(params, { relatedRequestId: ctx.mcpReq.id });
      return text(`LLM response: ${JSON.stringify(answer.content)}`);
    },
  );
  const ask = async (
    ctx: ServerContext,
    message: string,
    properties: Record<string, unknown>,
    required: string[] = [],
  ): Promise<CallToolResult> => {
    const requestedSchema = { type: 'object' as const, properties, required } as Parameters<
      typeof server.server.elicitInput
    >[0] extends { requestedSchema: infer S }
      ? S
      : never;
    const answer = await server.server.elicitInput(
      { mode: 'form', message, requestedSchema },
      { relatedRequestId: ctx.mcpReq.id },
    );
    return text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content)}`);
  };
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the person', inputSchema: z.object({ message: z.string() }) },
    ({ message }, ctx) =>
      ask(
        ctx,
        message,
        {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        },
        ['username', 'email'],
      ),
  );
  server.registerTool(
    'test_elicitation_sep1034_defaults',
    { description: 'Asks with defaults' },
    (ctx: ServerContext) =>
      ask(ctx, 'Please review the defaults', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }),
  );
  const titled = (kind: string): { const: string; title: string }[] =>
    ['First', 'Second', 'Third'].map((title, at) => ({ const: `value${at + 1}`, title: `${title} ${kind}` }));
  server.registerTool('test_elicitation_sep1330_enums', { description: 'Asks with enums' }, (ctx: ServerContext) =>
    ask(ctx, 'Please choose', {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled('Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
    }),
  );
}

function addResources(server: McpServer): void {
  server.registerResource(
    'static-text',
    'test://static-text',
    { description: 'Text', mimeType: 'text/plain' },
    (uri) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
    }),
  );
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { description: 'An image', mimeType: 'image/png' },
    (uri) => ({
      contents: [{ uri: uri.href, mimeType: 'image/png', blob: png }],
    }),
  );
  server.registerResource(
    'watched',
    'test://watched-resource',
    { description: 'Changes', mimeType: 'text/plain' },
    (uri) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'watched' }],
    }),
  );
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'By id' },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function addPrompts(server: McpServer): void {
  const user = (
    content:
      | { type: 'text'; text: string }
      | { type: 'image'; data: string; mimeType: string }
      | { type: 'resource'; resource: { uri: string; mimeType: string; text: string } },
  ) => ({ role: 'user' as const, content });
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, () => ({
    messages: [user({ type: 'text', text: 'This is a simple prompt for testing.' })],
  }));
  const argument = completable(z.string(), (value) =>
    ['paris', 'park', 'party'].filter((word) => word.startsWith(value)),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments', argsSchema: z.object({ arg1: argument, arg2: z.string() }) },
    ({ arg1, arg2 }) => ({
      messages: [user({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
    }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user({
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        user({ type: 'text', text: 'Please process the embedded resource above.' }),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, () => ({
    messages: [
      user({ type: 'image', data: png, mimeType: 'image/png' }),
      user({ type: 'text', text: 'Please analyze the image above.' }),
    ],
  }));
}
