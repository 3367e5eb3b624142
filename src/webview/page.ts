import type { HubState, PageEvent, PageStart } from '../protocol/webviewMessages.ts';
import type { OverviewFilter } from '../protocol/storyMessages.ts';
import { PageError, type Ask, type PageApi } from './api.ts';
import { AgentsStore } from './stores/agentsStore.ts';
import { Drafts, newMessage } from './stores/drafts.ts';
import type { ErrorShape } from './stores/errorShape.ts';
import { InboxStore } from './stores/inboxStore.ts';
import { Observable } from './stores/observable.ts';
import type { PageState } from './stores/pageState.ts';
import { ReachStore } from './stores/reachStore.ts';
import { StoryStore } from './stores/storyStore.ts';
import { visible } from './text/invisible.ts';
import { lineOf, plainLine } from './text/lines.ts';

export type Screen = 'inbox' | 'conversation' | 'compose';
/** Where the keyboard goes after a change of screen; taken by whoever is there. */
export type FocusWish = 'list' | 'search' | 'composer' | 'history';

/** The whole of the page's state and everything that can be done with it. Elements show it and call it. */
export class Page extends Observable {
  readonly ask: Ask;
  readonly inbox: InboxStore;
  readonly story: StoryStore;
  readonly agents: AgentsStore;
  readonly reach: ReachStore;
  readonly drafts: Drafts;
  readonly saved: PageState;
  start: PageStart;
  /** The extension has answered: what is shown is true. */
  ready = false;
  screen: Screen;
  picture = false;
  /** Taken back to unread by the person: still in view, but not to be marked as seen again. */
  readonly keptUnread = new Set<string>();
  /** The message to bring into view, once. */
  target: string | undefined;
  focusWish: FocusWish | undefined;
  search: string;
  notice: ErrorShape | undefined;
  /** Said aloud by a screen reader. */
  announcement = '';

  constructor(api: PageApi, saved: PageState, place: PageStart['place']) {
    super();
    this.ask = api.ask;
    this.saved = saved;
    this.start = { place, hub: 'connecting', paused: false, readOnly: false, me: 'person' };
    this.screen = 'inbox';
    this.search = '';
    const me = () => this.start.me;
    this.inbox = new InboxStore(api.ask, me);
    this.story = new StoryStore(api.ask, me);
    this.agents = new AgentsStore(api.ask);
    this.reach = new ReachStore(api.ask);
    this.drafts = new Drafts(saved);
    api.onEvent = (event) => this.receive(event);
    saved.keep = (state) => void api.ask('keep', { state }).catch(() => undefined);
    this.recall();
  }

  get me(): string {
    return this.start.me;
  }

  get canAct(): boolean {
    return !this.start.readOnly && this.start.hub === 'connected';
  }

  /** On start, and again whenever the page was hidden: the extension may have told things nobody heard. */
  async hello(): Promise<void> {
    const first = !this.ready;
    try {
      this.start = await this.ask('hello', {});
    } catch (error) {
      this.tell(error);
      return;
    }
    this.ready = true;
    if (first && this.start.kept !== undefined && this.saved.adopt(this.start.kept)) this.recall();
    this.changed();
    if (first) this.restore();
    else if (this.start.hub === 'connected') this.readAgain();
  }

  private recall(): void {
    const { screen, search, filter } = this.saved.value;
    this.screen = this.start.place === 'tab' ? 'conversation' : (screen ?? 'inbox');
    this.search = search ?? '';
    this.inbox.filter = filter ?? 'all';
  }

  private restore(): void {
    const { screen, conversation, picture, anchor } = this.saved.value;
    const wanted = this.start.conversation ?? conversation;
    const inTab = this.start.place === 'tab';
    if (this.start.hub === 'connected') {
      void this.agents.load();
      if (!inTab) void this.inbox.load();
    }
    if (wanted !== undefined && (inTab || screen === 'conversation')) {
      const same = wanted === conversation;
      this.show(wanted, { ...(same && picture && { picture }), ...(same && anchor && { around: anchor.message }) });
    } else if (screen === 'conversation') this.screen = 'inbox';
    this.changed();
  }

  private readAgain(): void {
    void this.agents.load();
    if (this.start.place === 'sidebar') void this.inbox.load();
    if (this.screen === 'conversation') void this.story.reload();
  }

  private receive(event: PageEvent): void {
    if (event.type === 'hub') this.hubBecame(event.state, event.home);
    else if (event.type === 'paused') this.start = { ...this.start, paused: event.paused };
    else if (event.type === 'missed') this.readAgain();
    else if (event.type === 'events') {
      for (const one of event.events) {
        if (one.type === 'paused') this.start = { ...this.start, paused: one.paused };
      }
      this.agents.apply(event.events);
      this.reach.apply(event.events);
      if (this.start.place === 'sidebar') this.inbox.apply(event.events);
      this.announceNew(this.story.apply(event.events));
    } else if (event.screen === 'inbox') {
      if (event.filter) this.setFilter(event.filter);
      this.goInbox(event.search ? 'search' : 'list');
    } else if (event.screen === 'compose') this.compose(event.to);
    else {
      this.open(event.conversation, {
        ...(event.message && { message: event.message }),
        ...(event.picture && { picture: true }),
        focus: event.compose ? 'composer' : 'history',
      });
    }
    this.changed();
  }

  private hubBecame(hub: HubState, home: string | undefined): void {
    const before = this.start.hub;
    this.start = { ...this.start, hub, ...(home !== undefined && { home }) };
    if (hub !== 'connected' || before === 'connected') return;
    if (this.ready) this.readAgain();
  }

  private announceNew(arrived: ReturnType<StoryStore['apply']>): void {
    if (this.screen !== 'conversation') return;
    const others = arrived.filter((message) => message.from !== this.me);
    if (others.length === 0) return;
    const last = others.at(-1);
    this.announcement =
      others.length === 1 && last
        ? `${last.from}: ${visible(plainLine(lineOf(last.text, 200)))}`
        : `${others.length} new messages`;
  }

  announce(text: string): void {
    this.announcement = text;
    this.changed();
  }

  // Going around.

  open(
    conversation: string,
    { focus = 'history', ...how }: { message?: string; picture?: boolean; focus?: FocusWish } = {},
  ): void {
    this.inbox.kept = conversation;
    this.focusWish = focus;
    this.saved.set({ anchor: undefined, row: conversation });
    this.show(conversation, how);
  }

  private show(conversation: string, how: { message?: string; around?: string; picture?: boolean }): void {
    this.screen = 'conversation';
    this.keptUnread.clear();
    this.picture = how.picture ?? false;
    this.target = how.message;
    this.saved.set({ screen: 'conversation', conversation, picture: this.picture });
    void this.story.open(conversation, how.message ?? how.around);
    this.changed();
  }

  /** Back: to the inbox, or in a tab to its conversation. */
  goInbox(focus: FocusWish = 'list'): void {
    if (this.start.place === 'tab') {
      this.screen = 'conversation';
      this.saved.set({ screen: 'conversation' });
      this.changed();
      return;
    }
    const was = this.screen;
    this.screen = 'inbox';
    this.focusWish = focus;
    this.saved.set({ screen: 'inbox', anchor: undefined });
    if (was === 'conversation') {
      this.story.close();
      if (this.start.hub === 'connected') void this.inbox.refresh();
    }
    this.changed();
  }

  compose(to: string[] = []): void {
    if (to.length > 0) {
      const draft = this.drafts.get(newMessage);
      this.drafts.set(newMessage, { ...draft, to: [...new Set([...draft.to, ...to])] });
    }
    this.screen = 'compose';
    this.focusWish = 'composer';
    this.saved.set({ screen: 'compose' });
    this.changed();
  }

  togglePicture(on = !this.picture): void {
    this.picture = on;
    this.saved.set({ picture: on });
    this.changed();
  }

  /** From the picture, a quote or a search hit to the message itself. */
  jump(message: string): void {
    this.togglePicture(false);
    this.target = message;
    this.focusWish = 'history';
    if (!this.story.message(message) && this.story.id !== undefined) void this.story.open(this.story.id, message);
    this.changed();
  }

  setFilter(filter: OverviewFilter): void {
    this.saved.set({ filter, scroll: 0 });
    void this.inbox.load(filter);
    this.changed();
  }

  setSearch(text: string): void {
    this.search = text;
    this.saved.set({ search: text });
    this.changed();
  }

  /** The conversation that the person has with an agent alone, where it is known. */
  directWith(name: string): string | undefined {
    return this.inbox.rows.find(
      ({ kind, members }) => kind === 'direct' && members.includes(name) && members.includes(this.me),
    )?.id;
  }

  // Doing things.

  /** Runs an action and shows what went wrong. @returns whether it went well. */
  async run(action: Promise<unknown>, done?: string): Promise<boolean> {
    try {
      await action;
      if (done) this.announce(done);
      return true;
    } catch (error) {
      this.tell(error);
      return false;
    }
  }

  /** A new message was sent: to its conversation. Whoever has gone elsewhere meanwhile is left there. */
  sent(conversation: string): void {
    if (this.screen !== 'compose') return;
    if (this.start.place === 'tab') {
      this.goInbox();
      if (conversation !== this.story.id) void this.run(this.ask('openTab', { conversation }));
    } else this.open(conversation, { focus: 'composer' });
  }

  markUnread(id: string): void {
    this.keptUnread.add(id);
    void this.run(this.ask('unread', { id }), 'Marked as unread');
  }

  seen(given: string[]): void {
    const ids = given.filter((id) => !this.keptUnread.has(id));
    if (ids.length === 0) return;
    const conversation = this.story.id;
    const count = this.story.markSeen(ids);
    if (conversation !== undefined && count > 0) this.inbox.noteSeen(conversation, count);
    void this.ask('seen', { ids }).catch(() => undefined);
  }

  /** One click answers with that option. */
  async answer(message: string, option: string): Promise<boolean> {
    const key = crypto.randomUUID();
    return this.run(this.ask('send', { reply_to: message, text: option, kind: 'reply', key }), `Answered: ${option}`);
  }

  dismiss(): void {
    this.notice = undefined;
    this.changed();
  }

  private tell(error: unknown): void {
    const { code, message, next } = PageError.from(error);
    this.notice = { code, message, next };
    this.changed();
  }
}
