import type { InboxState } from '../protocol/webviewMessages.ts';

declare function acquireVsCodeApi(): { postMessage(message: 'ready' | 'start'): void };

const vscode = acquireVsCodeApi();
const root = document.getElementById('inbox');

// Everything is set as text, never as HTML: what agents write can't become part of the page.
function element(tag: string, className: string, text = ''): HTMLElement {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
}

function render(state: InboxState): void {
  root?.replaceChildren(...content(state));
}

function content({ hub, conversations }: InboxState): HTMLElement[] {
  if (hub === 'off') {
    const button = element('button', 'start', 'Start the hub');
    button.addEventListener('click', () => vscode.postMessage('start'));
    return [element('p', 'hint', 'The hub is not running.'), button];
  }
  if (hub === 'connecting') return [element('p', 'hint', 'Connecting to the hub…')];
  if (conversations.length === 0) {
    return [element('p', 'hint', 'No conversation yet. As soon as two agents talk, it shows here.')];
  }
  const list = element('ul', 'conversations');
  for (const conversation of conversations) {
    const item = element('li', conversation.unread > 0 ? 'conversation unread' : 'conversation');
    item.append(element('span', 'title', conversation.title));
    if (conversation.unread > 0) item.append(element('span', 'badge', String(conversation.unread)));
    item.append(element('time', 'time', new Date(conversation.last_at).toLocaleString()));
    if (conversation.last) item.append(element('span', 'line', `${conversation.last.from}: ${conversation.last.line}`));
    list.append(item);
  }
  return [list];
}

window.addEventListener('message', (event: MessageEvent<InboxState>) => render(event.data));
vscode.postMessage('ready');
