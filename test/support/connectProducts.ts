/** What each product's hooks say and hear, as its documentation and our measurements have it. */
import type { ProductName } from '../../src/connect/products/product.ts';
import type { Parsed } from './cliProcess.ts';

export interface SpokenHooks {
  name: Exclude<ProductName, 'vscode'>;
  /** The end of its agents' names. */
  agent: string;
  events: Record<'start' | 'prompt' | 'tool' | 'stop', string> & { end?: string };
  said(session: string, folder: string, more?: object): string;
  prompt(text: string): object;
  tool(name: string): object;
  again?: object;
  context(output: Parsed): string | undefined;
  block(output: Parsed): string | undefined;
  /** Whether what a prompt's hook answers reaches the model. */
  hearsAtPrompt: boolean;
}

const claudeLike = {
  said: (session: string, folder: string, more: object = {}) =>
    JSON.stringify({ session_id: session, transcript_path: '/t', cwd: folder, hook_event_name: 'x', ...more }),
  prompt: (prompt: string) => ({ prompt }),
  tool: (tool: string) => ({ tool_name: tool, tool_use_id: 'u1', tool_input: {}, tool_response: {} }),
  again: { stop_hook_active: true },
  context: (output: Parsed) => output?.hookSpecificOutput?.additionalContext as string | undefined,
  block: (output: Parsed) => (output?.decision === 'block' ? (output.reason as string) : undefined),
  hearsAtPrompt: true,
};

export const spokenHooks: readonly SpokenHooks[] = [
  {
    ...claudeLike,
    name: 'claude',
    agent: 'claude',
    events: {
      start: 'SessionStart',
      prompt: 'UserPromptSubmit',
      tool: 'PostToolUse',
      stop: 'Stop',
      end: 'SessionEnd',
    },
  },
  {
    ...claudeLike,
    name: 'codex',
    agent: 'codex',
    events: { start: 'SessionStart', prompt: 'UserPromptSubmit', tool: 'PostToolUse', stop: 'Stop' },
  },
  {
    ...claudeLike,
    name: 'gemini',
    agent: 'gemini',
    events: { start: 'SessionStart', prompt: 'BeforeAgent', tool: 'AfterTool', stop: 'AfterAgent', end: 'SessionEnd' },
  },
  {
    name: 'copilot',
    agent: 'copilot-cli',
    events: {
      start: 'sessionStart',
      prompt: 'userPromptSubmitted',
      tool: 'postToolUse',
      stop: 'agentStop',
      end: 'sessionEnd',
    },
    said: (session, folder, more = {}) => JSON.stringify({ sessionId: session, timestamp: 1, cwd: folder, ...more }),
    prompt: (prompt) => ({ prompt }),
    tool: (toolName) => ({ toolName, toolArgs: {}, toolResult: {} }),
    again: { stop_hook_active: true },
    context: (output) => output?.additionalContext as string | undefined,
    block: (output) => (output?.decision === 'block' ? (output.reason as string) : undefined),
    hearsAtPrompt: true,
  },
  {
    name: 'cursor',
    agent: 'cursor',
    events: {
      start: 'sessionStart',
      prompt: 'beforeSubmitPrompt',
      tool: 'postToolUse',
      stop: 'stop',
      end: 'sessionEnd',
    },
    said: (session, folder, more = {}) =>
      JSON.stringify({ conversation_id: session, generation_id: 'g', workspace_roots: [folder], ...more }),
    prompt: (prompt) => ({ prompt }),
    tool: (tool) => ({ tool_name: tool, tool_use_id: 'u1' }),
    context: (output) => output?.additional_context as string | undefined,
    block: (output) => output?.followup_message as string | undefined,
    hearsAtPrompt: false,
  },
];
