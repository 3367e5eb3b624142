import type {
  AgentKind,
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
  RemoteRecord,
  RemoteTaskRecord,
  RequestRecord,
  TellRecord,
} from '../core/model.ts';

/** Rows of the database as records of the core. */
export type Row = Record<string, unknown>;

export const agentRow = (row: Row): AgentRecord => ({
  id: row['id'] as number,
  name: row['name'] as string,
  kind: row['kind'] as AgentKind,
  about: row['about'] as string,
  workspace: row['workspace'] as string,
  product: row['product'] as string,
  skills: strings(row['skills']),
  open: row['open'] === 1,
  identity: row['identity'] as string | null,
  created: row['created'] as number,
  lastSeen: row['last_seen'] as number,
  removed: row['removed'] === 1,
});

export const conversationRow = (row: Row): ConversationRecord => ({
  id: row['id'] as number,
  kind: row['kind'] as ConversationKind,
  key: row['key'] as string,
  about: row['about'] as string,
  created: row['created'] as number,
  lastSeq: row['last_seq'] as number,
  lastAt: row['last_at'] as number,
});

export const messageRow = (row: Row): MessageRecord => ({
  seq: row['seq'] as number,
  conversation: row['conversation'] as number,
  sender: row['sender'] as number,
  kind: row['kind'] as MessageKind,
  text: row['text'] as string,
  data: row['data'] as string | null,
  files: strings(row['files']),
  options: strings(row['options']),
  replyTo: row['reply_to'] as number | null,
  priority: row['urgent'] === 1 ? 'urgent' : 'normal',
  key: row['key'] as string | null,
  hop: row['hop'] as number,
  sentAt: row['sent_at'] as number,
  expiresAt: row['expires_at'] as number | null,
});

export const deliveryRow = (row: Row): DeliveryRecord => ({
  seq: row['seq'] as number,
  agent: row['agent'] as number,
  phase: row['phase'] as DeliveryPhase,
  step: row['step'] as DeliveryRecord['step'],
  at: row['at'] as number,
  heldBack: row['held_back'] === 1,
  released: row['released'] === 1,
});

export const chatRow = (row: Row): ChatRecord => ({
  id: row['id'] as string,
  agent: row['agent'] as number,
  workspace: row['workspace'] as string,
  product: row['product'] as string,
  window: row['window'] as string,
  home: row['home'] as number | null,
  state: row['state'] as ChatRecord['state'],
  tools: typeof row['tools'] === 'string' ? (JSON.parse(row['tools']) as ChatRecord['tools']) : [],
  asking: row['asking'] === 1,
  waking: row['waking'] === 1,
  hop: row['hop'] as number | null,
  at: row['at'] as number,
});

export const consentRow = (row: Row): ConsentRecord => ({
  from: row['sender'] as string,
  to: row['recipient'] as string,
  verdict: row['verdict'] as ConsentRecord['verdict'],
  at: row['at'] as number,
});

export const receiptRow = (row: Row): ReceiptRecord => ({
  id: row['id'] as number,
  seq: row['seq'] as number,
  agent: row['agent'] as number,
  step: row['step'] as ReceiptRecord['step'],
  at: row['at'] as number,
  route: row['route'] as ReceiptRecord['route'],
  outcome: row['outcome'] as ReceiptRecord['outcome'],
  note: row['note'] as string | null,
});

export const requestRow = (row: Row): RequestRecord => ({
  seq: row['seq'] as number,
  state: row['state'] as RequestRecord['state'],
  resultSeq: row['result_seq'] as number | null,
  endedAt: row['ended_at'] as number | null,
  note: row['note'] as string | null,
});

export const remoteRow = (row: Row): RemoteRecord => ({
  agent: row['agent'] as number,
  url: row['url'] as string,
  card: row['card'] as string,
  secret: typeof row['secret'] === 'string' ? (JSON.parse(row['secret']) as RemoteRecord['secret']) : null,
  addedBy: row['added_by'] as number,
  health: row['health'] as RemoteRecord['health'],
  trouble: row['trouble'] as string | null,
  checkedAt: row['checked_at'] as number,
});

export const remoteTaskRow = (row: Row): RemoteTaskRecord => ({
  seq: row['seq'] as number,
  agent: row['agent'] as number,
  conversation: row['conversation'] as number,
  stage: row['stage'] as RemoteTaskRecord['stage'],
  task: row['task'] as string | null,
  state: row['state'] as string | null,
  progress: row['progress'] as string | null,
  question: row['question'] as number | null,
  updatedAt: row['updated_at'] as number,
  unreachableSince: row['unreachable_since'] as number | null,
});

export const tellRow = (row: Row): TellRecord => ({
  id: row['id'] as number,
  agent: row['agent'] as number,
  what: row['what'] as TellRecord['what'],
  about: row['about'] as number,
  hop: row['hop'] as number,
  at: row['at'] as number,
  until: row['until'] as number,
});

function strings(value: unknown): string[] {
  return typeof value === 'string' ? (JSON.parse(value) as string[]) : [];
}
