/**
 * Everything of VS Code that is used here without being documented API. Each use checks that it is there, and has
 * something to fall back on; test/vscode/contract.test.ts says what is relied on, for the version it runs in.
 */

export const internalCommands = {
  /** Submits a turn to the chat that had the focus last, or fills its input. */
  openChat: 'workbench.action.chat.open',
  /** An empty chat in the chat view. Drafts stay with the chats they were begun in. */
  newChat: 'workbench.action.chat.newChat',
  /** Moves the chat of the active editor tab into the chat view, and closes the tab. */
  chatToSideBar: 'workbench.action.chat.openInSidebar',
  /** The way back: a submitted turn takes the focus with it. */
  focusEditor: 'workbench.action.focusActiveEditorGroup',
} as const;

/** Whose chats these are. Without it the commands are there, but lead to a sign-in. */
export const copilotExtension = 'GitHub.copilot-chat';

/** The options of `openChat` that are used. */
export interface OpenChat {
  query: string;
  mode: 'agent';
  /** Leaves a half-written prompt in the input as it is. */
  preserveInput?: true;
  /** Only fills the input, over what was in there. */
  isPartialQuery?: true;
}

/** One chat of the editor's own agent, by the id that its hooks and its MCP calls name. Opens as an editor tab. */
export function chatSessionUri(chat: string): string {
  return `vscode-chat-session://local/${Buffer.from(chat).toString('base64url')}`;
}

/**
 * Beside our own folder of the workspace's storage the editor keeps a file per chat, with a line per change. A line that
 * sets `requests[n].modelState` has one of these values: running, complete, cancelled, failed, waiting for the person.
 */
export const chatFolder = 'chatSessions';
export const chatStates = ['working', 'idle', 'idle', 'idle', 'approval'] as const;

/** What the hooks of our plugin are told and may answer: see plugin/hooks/hooks.json and src/cli/hookEvent.ts. */
export const hookEvents = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'] as const;

/** Tools of the MCP server are called so in hooks and for the model. */
export const toolPrefix = 'mcp_agent-bus_';
