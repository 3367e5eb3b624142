import { asText, event, texts, type Item, type ModelWire } from '../modelWire.ts';

interface Body {
  messages?: {
    role: string;
    content?: unknown;
    tool_calls?: { function: { arguments: string } }[];
  }[];
  tools?: { function?: { name: string } }[];
  response_format?: { type?: string };
}

/** Copilot CLI's, with a model of the person's own. */
export const openaiChat: ModelWire = {
  serves: (path) => path.endsWith('/chat/completions'),

  read(body) {
    const { messages = [], tools = [], response_format } = body as Body;
    const items: Item[] = [];
    for (const { role, content, tool_calls = [] } of messages) {
      if (role === 'tool') items.push({ by: 'result', text: texts(content).join('\n') || asText(content) });
      else {
        const by = role === 'user' || role === 'assistant' ? role : 'system';
        items.push(...texts(content).map((text): Item => ({ by, text })));
      }
      items.push(...tool_calls.map((call): Item => ({ by: 'call', text: call.function.arguments })));
    }
    const offered = tools.flatMap((tool) => (tool.function ? [{ name: tool.function.name }] : []));
    return { items, tools: offered, wantsJson: response_format?.type?.startsWith('json') === true };
  },

  write(output, { serial, body }) {
    const message =
      'say' in output
        ? { role: 'assistant', content: output.say }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                index: 0,
                id: `call_${serial}`,
                type: 'function',
                function: { name: output.call.name, arguments: JSON.stringify(output.with) },
              },
            ],
          };
    const finish_reason = 'say' in output ? 'stop' : 'tool_calls';
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const about = { id: `chatcmpl-${serial}`, created: 1, model: 'scripted' };
    if ((body as { stream?: boolean }).stream !== true) {
      return JSON.stringify({
        ...about,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason }],
        usage,
      });
    }
    const chunk = (choice: object) =>
      event({ ...about, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], usage });
    return `${chunk({ delta: message, finish_reason: null })}${chunk({ delta: {}, finish_reason })}data: [DONE]\n\n`;
  },
};
