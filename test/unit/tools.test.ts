import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../src/core/limits.ts';
import { instructions, listTools, tools } from '../../src/tools/table.ts';

/**
 * What models read about the tools, word for word. A change here is paid for by every session of every agent and may
 * change how they behave: make it on purpose.
 */
const snapshot: Record<string, string> = {
  agents: 'Who you are on the bus, who else is here, what each does and how a message would reach it.',
  send: 'Message agents, "person", a "#channel", an A2A agent (name or https://…) or tcp://host:port. kind "request" wants an answer, "inform" does not; to answer, give reply_to. With wait_seconds you get the answer, or "pending" and an id to ask status about. It returns once the message is on disk.',
  inbox:
    'Your mail, oldest first. filter: "new" (not shown to you yet), "open" (also shown but neither acked nor answered), "done", "all". With wait_seconds it blocks, at no cost, until something new comes. Reading removes nothing: ack or answer what you are done with.',
  ack: 'Tell the senders that you are done with messages, are blocked on them, or reject them. All ids or none.',
  status:
    "With id: which step the message reached with each recipient and when (stored, offered, shown, acked, replied), and a request's state, progress and answer; cancel ends your own pending request. tell: get one notice when that request has ended, or agent is idle. Without: your requests, newest first.",
  conversations: 'Your conversations by last activity; with query, full-text search in their messages, newest first.',
  conversation:
    'One history, oldest first, its newest page unless before or after is given. With a message id: that message, from character offset on.',
  channel: 'List all channels or mine, create one, join or leave. Members hear what is sent to "#name".',
  register:
    'Choose your own name, say what you do and are good at, or leave the bus; your former name keeps reaching you. Or add an A2A agent by url.',
  ping: 'Is that agent there, how fast does it answer, and by which route would it hear a message?',
};

test('there are ten tools at most, and their descriptions are what they were', () => {
  assert.ok(Object.keys(tools).length <= 10);
  assert.deepEqual(Object.fromEntries(listTools().map((tool) => [tool.name, tool.description])), snapshot);
});

test('the list fits into 8 KiB, with room for the protocol around it', () => {
  const bytes = Buffer.byteLength(JSON.stringify({ tools: listTools() }));
  assert.ok(bytes <= 8_192, `${bytes} bytes`);
});

test('every schema is an object that takes nothing unknown, and states the limits', () => {
  for (const tool of listTools()) {
    assert.equal(tool.inputSchema['type'], 'object', tool.name);
    assert.equal(tool.inputSchema['additionalProperties'], false, tool.name);
  }
  const send = listTools().find((tool) => tool.name === 'send')?.inputSchema['properties'] as Record<
    string,
    Record<string, unknown>
  >;
  assert.equal(send['text']?.['maxLength'], limits.textBytes);
  assert.equal(send['wait_seconds']?.['maximum'], limits.waitSeconds);
});

test('hints follow from the effect', () => {
  const hints = Object.fromEntries(listTools().map((tool) => [tool.name, tool.annotations.readOnlyHint]));
  assert.deepEqual(
    Object.keys(hints).filter((name) => hints[name]),
    ['agents', 'inbox', 'conversations', 'conversation', 'ping'],
  );
  assert.ok(listTools().every((tool) => !tool.annotations.openWorldHint));
});

test('no tool has a name that clients have taken', () => {
  for (const name of ['send_message', 'SendMessage', 'message']) assert.ok(!(name in tools));
  assert.ok(instructions.length < 500);
});
