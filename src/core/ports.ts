import type {
  AckOutcome,
  AgentRecord,
  ChatRecord,
  ConsentRecord,
  ConversationKind,
  ConversationRecord,
  DeliveryPhase,
  DeliveryRecord,
  MessageKind,
  MessageRecord,
  ReceiptRecord,
  ReceiptStep,
  RemoteRecord,
  RemoteTaskRecord,
  RequestRecord,
  RequestState,
  Route,
  TellRecord,
} from './model.ts';

/** What the core needs from a store. Nothing in it says SQLite, one file or one machine. */

export interface InboxQuery {
  agent: number;
  phases: readonly DeliveryPhase[];
  sender?: number | undefined;
  kind?: MessageKind | undefined;
  conversation?: number | undefined;
  /** Only what came after this order number. */
  after?: number | undefined;
  limit: number;
}

export interface HistoryQuery {
  conversation: number;
  before?: number | undefined;
  after?: number | undefined;
  /** Whose eyes: notices to others are not for them. Undefined for the person, who sees all. */
  reader?: number | undefined;
  limit: number;
}

export interface ConversationsQuery {
  /** Whose conversations; undefined for the person, who sees all. */
  agent?: number | undefined;
  /** Only these. */
  among?: readonly number[] | undefined;
  /** Last activity before this order number; among those without a message, only ids before `id`. */
  before?: { seq: number; id: number } | undefined;
  limit: number;
}

export interface SearchQuery {
  terms: string;
  /** Who may see the hits; undefined for the person. */
  visibleTo?: { agent: number; channels: readonly number[] } | undefined;
  conversation?: number | undefined;
  before?: number | undefined;
  limit: number;
}

export interface RequestsQuery {
  /** Whose: those it has sent, or those that were sent to it. */
  agent: number;
  role: 'sent' | 'received';
  states: readonly RequestState[];
  order: 'newest' | 'oldest';
  /** Only what comes behind this order number, in that order. */
  beyond?: number | undefined;
  limit: number;
}

export interface Reads {
  agents(): AgentRecord[];
  aliases(): { name: string; agent: number }[];
  agentByToken(hash: Uint8Array): number | undefined;

  message(seq: number): MessageRecord | undefined;
  messageByKey(sender: number, key: string): MessageRecord | undefined;
  messagesAfter(seq: number, limit: number): MessageRecord[];
  recipients(seq: number): number[];
  delivery(seq: number, agent: number): DeliveryRecord | undefined;
  deliveries(seq: number, limit?: number): DeliveryRecord[];
  inbox(query: InboxQuery): MessageRecord[];
  /** Requests that were shown to the agent and that it has neither answered nor closed. */
  unanswered(agent: number, limit: number): MessageRecord[];
  /** Unread requests that still wait for an answer, answers to its own, notices, and what else the person wants delivered. */
  wakeable(agent: number, limit: number): MessageRecord[];
  unreadCount(agent: number, cap: number): number;
  unreadByConversation(agent: number): ReadonlyMap<number, number>;
  /** Pending requests to the agent that it has neither answered nor closed. */
  waitingByConversation(agent: number): ReadonlyMap<number, number>;

  receipts(seq: number): ReceiptRecord[];
  receiptsAfter(id: number, limit: number): ReceiptRecord[];
  request(seq: number): RequestRecord | undefined;
  pendingRequests(): number;
  /** The request whose answer this message is. */
  answeredBy(seq: number): RequestRecord | undefined;
  requests(query: RequestsQuery): MessageRecord[];
  /** Pending requests after an order number that were sent by then, with each recipient who has not seen them. */
  unseenRequests(after: number, sentBy: number, limit: number): { seq: number; agent: number }[];
  expiring(until: number, limit: number): { seq: number; at: number }[];
  nextExpiry(): number | undefined;

  conversation(id: number): ConversationRecord | undefined;
  conversationByKey(key: string): ConversationRecord | undefined;
  conversations(query: ConversationsQuery): ConversationRecord[];
  conversationCount(): number;
  /** The members of many conversations at once, and the beginnings of many messages. */
  membersOf(conversations: readonly number[]): Map<number, number[]>;
  beginnings(seqs: readonly number[], length: number): Map<number, MessageBeginning>;
  channels(): ConversationRecord[];
  channelsOf(agent: number): number[];
  members(conversation: number): number[];
  isMember(conversation: number, agent: number): boolean;
  history(query: HistoryQuery): MessageRecord[];
  search(query: SearchQuery): MessageRecord[];

  remotes(): RemoteRecord[];
  /** Those that are not over, oldest first. */
  remoteTasks(): RemoteTaskRecord[];
  /** One for each agent elsewhere that the message went to. */
  remoteTasksOf(seq: number): RemoteTaskRecord[];
  /** The other side's own id of a conversation with that agent. */
  remoteContext(conversation: number, agent: number): string | undefined;

  chats(): ChatRecord[];
  consents(): ConsentRecord[];
  /** A note of the hub's own. */
  meta(key: string): string | undefined;

  tells(): TellRecord[];
  tellsOf(agent: number): TellRecord[];
  tellsAbout(what: TellRecord['what'], about: number): TellRecord[];

  lastSeq(): number;
  lastReceipt(): number;
  /** Changes when the data is not the same history any more, so that cursors into the old one are not trusted. */
  epoch(): string;
}

export interface Writes extends Reads {
  insertAgent(agent: Omit<AgentRecord, 'id'>): number;
  updateAgent(id: number, patch: Partial<Omit<AgentRecord, 'id' | 'created' | 'kind'>>): void;
  insertAlias(name: string, agent: number): void;
  deleteAlias(name: string): void;
  nameOwner(name: string): number | undefined;
  insertToken(hash: Uint8Array, agent: number, at: number): void;
  deleteTokens(agent: number): number;

  insertConversation(kind: ConversationKind, key: string, about: string, at: number): number;
  insertMember(conversation: number, agent: number, at: number): void;
  deleteMember(conversation: number, agent: number): boolean;

  /** Its order number, or undefined if the sender has used the key before. */
  insertMessage(message: Omit<MessageRecord, 'seq'>): number | undefined;
  insertDelivery(message: MessageRecord, agent: number): void;
  /** False when the delivery is not there or was closed already: closed is final. */
  moveDelivery(seq: number, agent: number, phase: DeliveryPhase, step: ReceiptStep, at: number): boolean;
  insertReceipt(receipt: Omit<ReceiptRecord, 'id'>): ReceiptRecord;
  insertRequest(seq: number): void;
  /** False when the request had ended before: the first end counts. */
  endRequest(seq: number, end: RequestEnd): boolean;
  deleteExpiry(at: number, seq: number): void;
  /** Takes a delivery back to unread, or on to where it was before that; its step stays. */
  turnDelivery(seq: number, agent: number, phase: DeliveryPhase): boolean;
  markDelivery(seq: number, agent: number, mark: 'heldBack' | 'released'): void;

  /** Only for an agent that nothing refers to. */
  deleteAgent(id: number): void;

  putRemote(remote: RemoteRecord): void;
  deleteRemote(agent: number): void;
  putRemoteTask(task: RemoteTaskRecord): void;
  putRemoteContext(conversation: number, agent: number, context: string): void;

  putChat(chat: ChatRecord): void;
  deleteChat(id: string): void;
  putConsent(consent: ConsentRecord): void;
  deleteConsent(from: string, to: string): boolean;
  setMeta(key: string, value: string): void;

  /** One for each agent and cause; a second one takes the place of the first. */
  putTell(tell: Omit<TellRecord, 'id'>): void;
  /** False when it was gone already: it fires once. */
  deleteTell(id: number): boolean;
}

export interface MessageBeginning {
  sender: number;
  text: string;
  sentAt: number;
}

export interface RequestEnd {
  state: Exclude<RequestState, 'pending'>;
  resultSeq: number | null;
  at: number;
  note: string | null;
}

export interface Store extends Reads {
  /** Runs the work in a transaction shared with others of the same moment; resolves when it is on disk. */
  write<T>(work: (tx: Writes) => T, order?: 'after-notes'): Promise<T>;
  /** The same for notes that nobody waits for; `settled` runs once the note is on disk or could not be stored. */
  later(work: (tx: Writes) => void, settled?: (stored: boolean) => void): void;
  /** Stores the notes that are waiting, for a reader who is about to look at them. */
  settleNotes(): void;
}

export interface ReceiptNote {
  step: ReceiptStep;
  route?: Route | null;
  outcome?: AckOutcome | null;
  note?: string | null;
}
