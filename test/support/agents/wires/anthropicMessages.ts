import { asText, event, texts, type Item, type ModelWire } from '../modelWire.ts';

interface Body {
  system?: unknown;
  messages?: { role: 'user' | 'assistant' | 'system'; content: unknown }[];
  tools?: { name: string }[];
}

interface Part {
  type: string;
  text?: string;
  input?: unknown;
  content?: unknown;
}

/** Claude Code's. */
export const anthropicMessages: ModelWire = {
  serves: (path) => path.endsWith('/v1/messages'),

  read(body) {
    const { system, messages = [], tools = [] } = body as Body;
    const items: Item[] = texts(system).map((text) => ({ by: 'system', text }));
    for (const { role, content } of messages) {
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Part[]);
      for (const part of parts) {
        if (part.type === 'text') items.push({ by: role, text: part.text ?? '' });
        if (part.type === 'tool_use') items.push({ by: 'call', text: asText(part.input) });
        if (part.type === 'tool_result') items.push({ by: 'result', text: texts(part.content).join('\n') });
      }
    }
    return { items, tools: tools.map(({ name }) => ({ name })), wantsJson: false };
  },

  write(output, { serial }) {
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = {
      id: `msg_${serial}`,
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    const [block, delta, stop_reason] =
      'say' in output
        ? [{ type: 'text', text: '' }, { type: 'text_delta', text: output.say }, 'end_turn']
        : [
            { type: 'tool_use', id: `toolu_${serial}`, name: output.call.name, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(output.with) },
            'tool_use',
          ];
    const events = [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
    return events.map((data) => event(data, data.type)).join('');
  },
};
