/** What the views read in bulk: pages of conversations and of one history, with the fate of each message. */
import type { MessageView, ReceiptView, RequestState } from '../core/model.ts';
import type { ConversationSummary } from '../core/reading.ts';

export type OverviewFilter = 'all' | 'unread' | 'waiting';

export interface OverviewParams {
  /** `waiting`: the person was asked something there and has not answered. */
  filter: OverviewFilter;
  cursor?: string;
  /** At most 500. */
  limit: number;
}

export interface OverviewEntry extends ConversationSummary {
  /** Open requests to the person. */
  waiting: number;
  /** The name of the bus itself, where these are its notices to somebody: it reads nothing that is written there. */
  notices?: string;
}

export interface OverviewResult {
  conversations: OverviewEntry[];
  next?: string;
  /** How many conversations each filter has. */
  counts: Record<OverviewFilter, number>;
  /** Messages that the person has not seen. */
  unread: number;
}

export interface StoryParams {
  conversation: string;
  /** Message ids; at most one of the three. `around` gives a page with that message in its middle. */
  before?: string;
  after?: string;
  around?: string;
  /** At most 200. */
  limit: number;
}

/** How far it got with one recipient. */
export type Fate = ReceiptView;

export interface StoryMessage extends MessageView {
  fates: Fate[];
  request?: RequestState;
  ended_at?: string;
  /** The message that answered the request. */
  answer?: string;
  /** The person is a recipient and has not seen it. */
  unread?: true;
  /** Characters of the text that were left out here; `message` gives all of it. */
  rest?: number;
}

export interface StoryResult {
  conversation: OverviewEntry;
  messages: StoryMessage[];
  /** Where the page before and the page after begin, where there is one. */
  before?: string;
  after?: string;
}

/** Longer texts come cut, with `rest`. */
export const storyTextLength = 20_000;
