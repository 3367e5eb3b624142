import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard, Message, SendMessageRequest } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, type AgentExecutor } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { loop, type Probe } from '../rounds.ts';
import { startFloor } from '../support/floorServer.ts';
import { nextText } from '../support/texts.ts';

/** An agent made with the SDK that answers at once. */
export async function serve(): Promise<number> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const card = AgentCard.fromJSON({
    name: 'Instant',
    description: 'Answers at once.',
    version: '1.0.0',
    supportedInterfaces: [{ url: `http://127.0.0.1:${port}/`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'echo', name: 'echo', description: 'Answers.', tags: ['echo'] }],
  });
  const executor: AgentExecutor = {
    execute: ({ contextId }, bus) => {
      bus.publish(AgentEvent.message(answer(contextId)));
      bus.finished();
      return Promise.resolve();
    },
    cancelTask: () => Promise.resolve(),
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  return port;
}

function answer(contextId: string): Message {
  return Message.fromJSON({ messageId: randomUUID(), contextId, role: 'ROLE_AGENT', parts: [{ text: 'done' }] });
}

/** The least that asking an A2A agent takes: the SDK's own client, and nothing kept. */
export async function a2aCall(owned: AsyncDisposableStack): Promise<{ url: string; probe: Probe }> {
  const server = await startFloor(import.meta.filename);
  owned.defer(() => server.stop());
  const url = `http://127.0.0.1:${server.port}`;
  const client = await new ClientFactory().createFromUrl(url);
  const call = (): Promise<unknown> =>
    client.sendMessage(
      SendMessageRequest.fromJSON({
        message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: nextText() }] },
      }),
    );
  return { url, probe: loop('floor_a2a_call', 1, call) };
}
