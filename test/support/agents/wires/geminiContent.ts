import { asText, event, texts, type Item, type ModelWire } from '../modelWire.ts';

interface Body {
  systemInstruction?: { parts?: unknown };
  contents?: { role?: string; parts?: Part[] }[];
  tools?: { functionDeclarations?: { name: string }[] }[];
  generationConfig?: { responseSchema?: unknown; responseJsonSchema?: unknown };
}

interface Part {
  text?: string;
  functionCall?: { args?: unknown };
  functionResponse?: { response?: unknown };
}

/** Gemini CLI's. */
export const geminiContent: ModelWire = {
  serves: (path) => /:(stream)?generateContent$/i.test(path),

  read(body) {
    const { systemInstruction, contents = [], tools = [], generationConfig } = body as Body;
    const items: Item[] = texts(systemInstruction?.parts).map((text) => ({ by: 'system', text }));
    for (const { role, parts = [] } of contents) {
      for (const part of parts) {
        if (part.functionCall) items.push({ by: 'call', text: asText(part.functionCall.args) });
        else if (part.functionResponse) items.push({ by: 'result', text: outputOf(part.functionResponse.response) });
        else if (part.text !== undefined) items.push({ by: role === 'model' ? 'assistant' : 'user', text: part.text });
      }
    }
    const offered = tools.flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.map(({ name }) => ({ name })),
    );
    const wantsJson = (generationConfig?.responseSchema ?? generationConfig?.responseJsonSchema) !== undefined;
    return { items, tools: offered, wantsJson };
  },

  write(output, { serial, path }) {
    const part =
      'say' in output ? { text: output.say } : { functionCall: { name: output.call.name, args: output.with } };
    const response = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: 'scripted',
      responseId: `r${serial}`,
    };
    return /:stream/i.test(path) ? event(response) : JSON.stringify(response);
  },
};

function outputOf(response: unknown): string {
  const { output } = (response ?? {}) as { output?: unknown };
  return asText(output ?? response);
}
