/** Run as a process: fills a database with so many messages, through the hub's own store. `makeDatabase.ts FILE COUNT` */
import { DeliveryPhase, type MessageRecord, type ReceiptStep } from '../../../src/core/model.ts';
import type { Writes } from '../../../src/core/ports.ts';
import { SqliteStore } from '../../../src/storage/sqliteStore.ts';
import { dice, makeText } from './texts.ts';

const [file = '', wanted = '0'] = process.argv.slice(2);
const count = Number(wanted);
const agentCount = 100;
const conversationCount = 1_000;
const perCommit = 5_000;
const random = dice(count);
const below = (n: number): number => Math.floor(random() * n);
const now = Date.now();
const spanMs = 90 * 24 * 3600_000;

interface Conversation {
  id: number;
  members: number[];
}

const store = new SqliteStore(file);
const conversations = await store.write((tx) => makeConversations(tx, makeAgents(tx)));
for (let done = 0; done < count; done += perCommit) {
  await store.write((tx) => {
    for (let i = done; i < Math.min(done + perCommit, count); i++) addMessage(tx, i);
  });
}
// A search first indexes whatever is not indexed yet.
store.search({ terms: 'test', limit: 1 });
await store.remember('checked_at', String(now));
store.close();

function makeAgents(tx: Writes): number[] {
  const blank = {
    about: '',
    workspace: '/home/ada/bench',
    product: 'bench',
    skills: [],
    open: false,
    identity: null,
    created: now,
    lastSeen: now,
    removed: false,
  };
  tx.insertAgent({ ...blank, name: 'person', kind: 'person' });
  return Array.from({ length: agentCount }, (_, i) => tx.insertAgent({ ...blank, name: `agent-${i}`, kind: 'agent' }));
}

/** Nine in ten are between two; the rest are groups and channels. The first agents are in many of them. */
function makeConversations(tx: Writes, agents: number[]): Conversation[] {
  const made = new Map<string, Conversation>();
  while (made.size < conversationCount) {
    const size = made.size % 10 > 0 ? 2 : made.size % 20 > 0 ? 4 : 12;
    const members = new Set([agents[Math.floor(random() ** 2 * agentCount)] as number]);
    while (members.size < size) members.add(agents[below(agentCount)] as number);
    const sorted = [...members].sort((a, b) => a - b);
    const key = size === 12 ? `#channel-${made.size}` : sorted.join(' ');
    if (made.has(key)) continue;
    const id = tx.insertConversation(size === 2 ? 'direct' : size === 4 ? 'group' : 'channel', key, '', now - spanMs);
    for (const member of sorted) tx.insertMember(id, member, now - spanMs);
    made.set(key, { id, members: [...members] });
  }
  return [...made.values()];
}

function addMessage(tx: Writes, i: number): void {
  const conversation = conversations[below(conversationCount)] as Conversation;
  const { members } = conversation;
  const sender = members[random() < 0.3 ? 0 : 1 + below(members.length - 1)] as number;
  const kind = random() < 0.2 ? 'request' : 'inform';
  const at = now - spanMs + Math.floor((spanMs * i) / count);
  const nothing = { data: null, files: [], options: [], replyTo: null, expiresAt: null, hop: 0 };
  const key = `auto-${i.toString(36)}-${below(2 ** 30).toString(36)}`;
  const text = makeText(random);
  const record: Omit<MessageRecord, 'seq'> = {
    ...nothing,
    conversation: conversation.id,
    sender,
    kind,
    text,
    priority: 'normal' as const,
    key,
    sentAt: at,
  };
  const seq = tx.insertMessage(record);
  if (seq === undefined) throw new Error('a key was used twice');
  if (kind === 'request') tx.insertRequest(seq);
  for (const reader of members) if (reader !== sender) deliver(tx, { seq, ...record }, reader, at);
}

/** Two in five unread, one in five shown, two in five done; the steps in between have left their receipts. */
function deliver(tx: Writes, message: MessageRecord, agent: number, at: number): void {
  const { seq } = message;
  tx.insertDelivery(message, agent);
  const fate = random();
  if (fate < 0.4) return;
  const steps: ReceiptStep[] = fate < 0.6 ? ['offered', 'shown'] : ['offered', 'shown', 'acked'];
  for (const step of steps) {
    const outcome = step === 'acked' ? 'done' : null;
    tx.insertReceipt({ seq, agent, step, at, route: step === 'acked' ? null : 'inbox', outcome, note: null });
  }
  const closed = steps.length === 3;
  tx.moveDelivery(seq, agent, closed ? DeliveryPhase.closed : DeliveryPhase.open, closed ? 'acked' : 'shown', at);
}
