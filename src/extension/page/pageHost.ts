import * as vscode from 'vscode';
import { BusError } from '../../core/errors.ts';
import type { AgentView } from '../../core/model.ts';
import type { BusClient } from '../../client/busClient.ts';
import type { Attention } from '../attention.ts';
import type { HubLink } from '../hubLink.ts';
import { requireTrust, shapeOf } from '../problems.ts';
import type {
  PageAnswer,
  PageEvent,
  PageMethod,
  PageRequest,
  PageRequests,
  PageStart,
} from '../../protocol/webviewMessages.ts';
import type { AgentReach } from '../../protocol/reachMessages.ts';
import { adviseOn } from './adviseOn.ts';
import type { KeptStates } from './keptStates.ts';
import { openLink } from './openLink.ts';
import { deciding, isPageMethod, paramsOf } from './requests.ts';
import { savePicture } from './savePicture.ts';

/** What pages are served from. */
export interface PageParts {
  link: HubLink;
  attention: Attention;
  /** This window's own agent, once it has one. */
  home: { readonly agent: string | undefined; readonly onChange: vscode.Event<void> };
  output: vscode.LogOutputChannel;
  openTab: (conversation: string) => void;
  kept: KeptStates;
  /** The folder of the stable launcher. */
  bin: () => Promise<string>;
}

/** A page asks little at once; one that does not stop asking is not answered. */
const mostAtOnce = 100;
const agentPages = 20;

type Handlers = {
  [M in PageMethod]: (params: PageRequests[M]['params']) => Promise<PageRequests[M]['result']>;
};

/** Serves one page, in the sidebar or in a tab: answers its requests and tells it what happens. */
export class PageHost implements vscode.Disposable {
  private readonly webview: vscode.Webview;
  private readonly parts: PageParts;
  private readonly place: Pick<PageStart, 'place' | 'conversation'>;
  private readonly subscriptions: vscode.Disposable[];
  private readonly handlers: Handlers;
  private running = 0;
  /** The page is there and has said hello; before that it would not hear. */
  private listening = false;
  private wish: PageEvent | undefined;

  constructor(webview: vscode.Webview, place: Pick<PageStart, 'place' | 'conversation'>, parts: PageParts) {
    this.webview = webview;
    this.place = place;
    this.parts = parts;
    this.handlers = this.table();
    const { link, attention, home } = parts;
    this.subscriptions = [
      webview.onDidReceiveMessage((message: unknown) => void this.serve(message)),
      link.onState(() => this.tellState()),
      link.onEvents((events) => this.tell({ type: 'events', events })),
      link.onMissed(() => this.tell({ type: 'missed' })),
      attention.onChange(() => this.tell({ type: 'paused', paused: attention.paused })),
      home.onChange(() => this.tellState()),
    ];
  }

  /** Shows something now, or as soon as the page is there. */
  show(event: Extract<PageEvent, { type: 'show' }>): void {
    if (this.listening) this.tell(event);
    else this.wish = event;
  }

  /** A hidden page is gone; it says hello again when it comes back. */
  hidden(): void {
    this.listening = false;
  }

  dispose(): void {
    for (const one of this.subscriptions) one.dispose();
  }

  private tell(event: PageEvent): void {
    if (this.listening) void this.webview.postMessage(event);
  }

  private tellState(): void {
    const home = this.parts.home.agent;
    this.tell({ type: 'hub', state: this.parts.link.state, ...(home !== undefined && { home }) });
  }

  private async serve(message: unknown): Promise<void> {
    if (typeof message !== 'object' || message === null) return;
    const { request, method, params } = message as Partial<PageRequest>;
    if (typeof request !== 'number') return;
    const answer = await this.answer(request, method, params);
    // A page that is gone by now needs no answer.
    void this.webview.postMessage(answer).then(undefined, () => undefined);
    if (method === 'hello' && 'result' in answer) this.greeted();
  }

  private async answer(request: number, method: unknown, params: unknown): Promise<PageAnswer> {
    try {
      if (!isPageMethod(method)) {
        throw new BusError('unknown-tool', 'The page asked for something that does not exist.', {
          next: 'Reload the window.',
        });
      }
      if (this.running >= mostAtOnce) {
        throw new BusError('too-many-waits', 'Too many requests of this page are running.', { next: 'Wait a moment.' });
      }
      if (deciding.has(method)) requireTrust();
      this.running++;
      try {
        return { request, result: await this.run(method, params) };
      } finally {
        this.running--;
      }
    } catch (error) {
      return { request, error: shapeOf(error, this.parts.output) };
    }
  }

  private async run<M extends PageMethod>(method: M, params: unknown): Promise<PageRequests[M]['result']> {
    return await this.handlers[method](paramsOf[method](params, 'request'));
  }

  private greeted(): void {
    this.listening = true;
    if (this.wish) this.tell(this.wish);
    this.wish = undefined;
  }

  private start(): PageStart {
    const { link, attention, home } = this.parts;
    const kept = this.parts.kept.of(this.name);
    return {
      ...this.place,
      ...(kept !== undefined && { kept }),
      hub: link.state,
      paused: attention.paused,
      readOnly: !vscode.workspace.isTrusted,
      me: link.me,
      ...(home.agent !== undefined && { home: home.agent }),
    };
  }

  private get name(): string {
    return this.place.conversation ?? this.place.place;
  }

  /** Pages never start a hub by reading. */
  private get client(): BusClient {
    const client = this.parts.link.current;
    if (client) return client;
    throw new BusError('hub-unavailable', 'There is no connection to the hub.', {
      next: 'It comes back by itself, or start it with “Start the hub”.',
    });
  }

  private table(): Handlers {
    const { link, openTab } = this.parts;
    return {
      hello: async () => this.start(),
      keep: async ({ state }) => {
        this.parts.kept.keep(this.name, state);
        return null;
      },
      start: async () => {
        await link.connect();
        return null;
      },
      overview: (params) => this.client.request('overview', params),
      story: (params) => this.client.request('story', params),
      message: (params) => this.client.request('message', params),
      unread: (params) => this.client.request('unread', params),
      release: (params) => this.client.request('release', params),
      pause: (params) => this.client.request('pause', params),
      search: async ({ query, cursor }) => {
        const { data } = await this.client.call('conversations', { query, cursor, limit: 50 });
        if (!('hits' in data)) return { hits: [] };
        return { hits: data.hits, ...(data.next !== undefined && { next: data.next }) };
      },
      agents: () => this.agents(),
      reach: ({ agent }) => this.reach(agent),
      typing: (params) => this.client.request('typing', params),
      tell: ({ agent, on }) => this.tellWhenIdle(agent, on),
      status: async ({ id }) => (await this.client.call('status', { id })).data,
      send: async (draft) => {
        const { data } = await this.client.call('send', draft);
        return { id: data.id, conversation: data.conversation };
      },
      seen: async ({ ids }) => {
        this.client.shown(ids);
        return null;
      },
      ack: async ({ id, outcome, note }) => {
        await this.client.call('ack', { ids: [id], outcome, note });
        return null;
      },
      cancel: async ({ id }) => {
        await this.client.call('status', { id, cancel: true });
        return null;
      },
      copy: async ({ text }) => {
        await vscode.env.clipboard.writeText(text);
        return null;
      },
      open: async ({ href, message }) => {
        const { workspace } = await this.client.request('message', { id: message });
        await openLink(href, workspace);
        return null;
      },
      openTab: async ({ conversation }) => {
        openTab(conversation);
        return null;
      },
      exportSvg: async ({ svg, name }) => {
        await savePicture(svg, name);
        return null;
      },
    };
  }

  private async tellWhenIdle(agent: string, on: boolean | undefined): Promise<{ idle: boolean; telling: boolean }> {
    const { data } = await this.client.call('status', { agent, tell: on });
    if (!('idle' in data)) throw new Error('the hub told of something else than an agent');
    return { idle: data.idle, telling: data.telling };
  }

  private async reach(agent: string): Promise<AgentReach> {
    const [found] = await this.client.request('reach', { agent });
    if (found) return adviseOn(found, this.parts.bin);
    throw new BusError('unknown-agent', `No agent is called "${agent}".`, { next: 'Close the card and look again.' });
  }

  private async agents(): Promise<AgentView[]> {
    const found: AgentView[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < agentPages; page++) {
      const { data } = await this.client.call('agents', { limit: 100, cursor });
      found.push(...data.agents);
      cursor = data.next;
      if (cursor === undefined) break;
    }
    return found;
  }
}
