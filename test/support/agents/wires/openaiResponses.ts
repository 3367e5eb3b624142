import { asText, event, texts, type Item, type ModelWire, type Tool } from '../modelWire.ts';

interface Body {
  instructions?: string;
  input?: { type?: string; role?: string; content?: unknown; output?: unknown; arguments?: string }[];
  tools?: { type: string; name?: string; tools?: { name: string }[] }[];
}

/** Codex's. */
export const openaiResponses: ModelWire = {
  serves: (path) => path.endsWith('/responses'),

  read(body) {
    const { instructions = '', input = [], tools = [] } = body as Body;
    const items: Item[] = [{ by: 'system', text: instructions }];
    for (const { type = 'message', role, content, output, arguments: args } of input) {
      if (type.endsWith('call_output')) items.push({ by: 'result', text: asText(output) });
      else if (type.endsWith('_call')) items.push({ by: 'call', text: args ?? '' });
      else if (role === 'user' || role === 'assistant') {
        items.push(...texts(content).map((text): Item => ({ by: role, text })));
      } else items.push(...texts(content).map((text): Item => ({ by: 'system', text })));
    }
    const offered = tools.flatMap(({ type, name, tools: grouped }): Tool[] => {
      if (grouped) return grouped.map((tool) => ({ name: tool.name, group: name ?? '' }));
      return [{ name: name ?? type }];
    });
    return { items, tools: offered, wantsJson: false };
  },

  write(output, { serial }) {
    const item =
      'say' in output
        ? {
            type: 'message',
            id: `msg_${serial}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: output.say, annotations: [] }],
          }
        : {
            type: 'function_call',
            id: `fc_${serial}`,
            call_id: `call_${serial}`,
            name: output.call.name,
            ...(output.call.group !== undefined && { namespace: output.call.group }),
            arguments: JSON.stringify(output.with),
            status: 'completed',
          };
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15,
    };
    const response = {
      id: `resp_${serial}`,
      object: 'response',
      created_at: 1,
      model: 'scripted',
      output: [item],
      usage,
    };
    const events = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...response, status: 'completed' } },
    ];
    return events.map((data, sequence_number) => event({ ...data, sequence_number }, data.type)).join('');
  },
};
