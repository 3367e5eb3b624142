/** Tasks as A2A knows them, read from the store each time: a request of the caller to one agent, and what came of it. */
import { Role, TaskState, type Message, type Part, type Task, type TaskStatus } from '@a2a-js/sdk';
import type { AgentRecord, Caller, MessageRecord, ReceiptStep } from '../../core/model.ts';
import { DeliveryPhase, messageId } from '../../core/model.ts';
import type { Reads } from '../../core/ports.ts';
import { clientMessageId, contextOf, metadataOf, partsOf, textPart } from './messageParts.ts';
import { taskNotFound } from './protocolErrors.ts';

export interface TaskView {
  task: Task;
  /** Nothing more comes by itself: it has ended, or the agent waits for an answer. */
  rests: 'ended' | 'asking' | undefined;
  /** Changes exactly when there is something to tell about the state. */
  mark: string;
  /** Messages of the agent whose whole text is in this view. */
  shown: string[];
}

interface Standing {
  state: TaskState;
  at: number;
  says?: Message | undefined;
  /** The agent's message behind what it says. */
  spoken?: MessageRecord | undefined;
  result?: MessageRecord | undefined;
}

export interface ViewOptions {
  /** How many of the last messages; undefined for all that are to be had. */
  historyLength?: number | undefined;
  artifacts?: boolean;
}

/** What a view may hold of a long conversation. */
const historyCount = 200;
const historyChars = 2_000_000;
/** Answers to questions to answers… that still belong to their task. */
const chainLength = 64;

const unseen: readonly ReceiptStep[] = ['stored', 'held', 'offered'];

export class TaskViews {
  private readonly store: Reads;
  private readonly caller: Caller;
  private readonly agent: AgentRecord;

  constructor(store: Reads, caller: Caller, agent: AgentRecord) {
    this.store = store;
    this.caller = caller;
    this.agent = agent;
  }

  /** Somebody else's task looks like one that is not there. */
  require(id: string): MessageRecord {
    const seq = messageId.parse(id);
    const message = seq === undefined ? undefined : this.store.message(seq);
    if (!message || !this.isOwn(message)) throw taskNotFound(id);
    return message;
  }

  isOwn(message: MessageRecord): boolean {
    if (message.kind !== 'request' || message.sender !== this.caller.agent) return false;
    const [recipient, ...others] = this.store.recipients(message.seq);
    return recipient === this.agent.id && others.length === 0;
  }

  hasEnded(task: MessageRecord): boolean {
    return this.store.request(task.seq)?.state !== 'pending';
  }

  /** What the agent asks back and waits for. */
  question(task: MessageRecord): MessageRecord | undefined {
    const asked = this.store.inbox({
      agent: this.caller.agent,
      phases: [DeliveryPhase.unread, DeliveryPhase.open],
      sender: this.agent.id,
      kind: 'request',
      conversation: task.conversation,
      after: task.seq,
      limit: historyCount,
    });
    return asked.findLast(
      (message) => this.store.request(message.seq)?.state === 'pending' && this.belongsTo(message, task),
    );
  }

  /** It answers the task, or answers what answers it. */
  belongsTo(message: MessageRecord, task: MessageRecord): boolean {
    let at: MessageRecord | undefined = message;
    for (let steps = 0; at && steps < chainLength; steps++) {
      if (at.replyTo === task.seq) return true;
      if (at.replyTo === null || at.replyTo < task.seq) return false;
      at = this.store.message(at.replyTo);
    }
    return false;
  }

  view(task: MessageRecord, { historyLength, artifacts = true }: ViewOptions = {}): TaskView {
    const { state, at, says, spoken, result } = this.standing(task);
    const history = historyLength === 0 ? [] : this.history(task, result, historyLength ?? historyCount);
    const status: TaskStatus = { state, message: says, timestamp: new Date(at).toISOString() };
    const carried = [...history, ...(spoken ? [spoken] : []), ...(result && artifacts ? [result] : [])];
    return {
      task: {
        id: messageId.format(task.seq),
        contextId: contextOf(task),
        status,
        artifacts: result && artifacts ? [this.artifact(result)] : [],
        history: history.map((message) => this.message(message, task)),
        metadata: undefined,
      },
      rests: this.rests(state),
      mark: `${state} ${at} ${says?.messageId ?? ''}`,
      shown: carried.filter(({ sender }) => sender === this.agent.id).map(({ seq }) => messageId.format(seq)),
    };
  }

  private rests(state: TaskState): TaskView['rests'] {
    if (state === TaskState.TASK_STATE_SUBMITTED || state === TaskState.TASK_STATE_WORKING) return undefined;
    return state === TaskState.TASK_STATE_INPUT_REQUIRED ? 'asking' : 'ended';
  }

  private standing(task: MessageRecord): Standing {
    const request = this.store.request(task.seq);
    const at = request?.endedAt ?? task.sentAt;
    const result = request?.resultSeq ? this.addressed(request.resultSeq) : undefined;
    const note = request?.note ?? undefined;
    switch (request?.state) {
      case 'answered':
        return { state: TaskState.TASK_STATE_COMPLETED, at, result, says: this.note(task, note) };
      case 'failed': {
        const state = this.wasRejected(task) ? TaskState.TASK_STATE_REJECTED : TaskState.TASK_STATE_FAILED;
        if (result) return { state, at, says: this.message(result, task), spoken: result };
        return { state, at, says: this.note(task, note ?? 'It could not be done; no reason was given.') };
      }
      case 'cancelled':
        return { state: TaskState.TASK_STATE_CANCELED, at, says: this.note(task, note) };
      case 'expired':
        return { state: TaskState.TASK_STATE_FAILED, at, says: this.note(task, 'It expired before it was answered.') };
      default:
        return this.pending(task);
    }
  }

  /** An agent may have answered somebody else instead: that ends the task, and is not for this caller to read. */
  private addressed(seq: number): MessageRecord | undefined {
    return this.store.delivery(seq, this.caller.agent) ? this.store.message(seq) : undefined;
  }

  private pending(task: MessageRecord): Standing {
    const question = this.question(task);
    if (question) {
      const says = this.message(question, task);
      return { state: TaskState.TASK_STATE_INPUT_REQUIRED, at: question.sentAt, says, spoken: question };
    }
    const delivery = this.store.delivery(task.seq, this.agent.id);
    if (!delivery || unseen.includes(delivery.step)) return { state: TaskState.TASK_STATE_SUBMITTED, at: task.sentAt };
    const blocked = delivery.step === 'acked' ? this.lastAck(task)?.note : undefined;
    return { state: TaskState.TASK_STATE_WORKING, at: delivery.at, says: this.note(task, blocked ?? undefined) };
  }

  private wasRejected(task: MessageRecord): boolean {
    return this.lastAck(task)?.outcome === 'rejected';
  }

  private lastAck(task: MessageRecord): { outcome: string | null; note: string | null } | undefined {
    return this.store.receipts(task.seq).findLast(({ agent, step }) => agent === this.agent.id && step === 'acked');
  }

  /** The task itself and what was said about it since, oldest first; its result is the artifact. */
  private history(task: MessageRecord, result: MessageRecord | undefined, count: number): MessageRecord[] {
    const said = (message: MessageRecord): boolean => [this.caller.agent, this.agent.id].includes(message.sender);
    const since = this.store.history({ conversation: task.conversation, after: task.seq, limit: historyCount });
    const all = [
      task,
      ...since.filter((message) => message.seq !== result?.seq && said(message) && this.belongsTo(message, task)),
    ];
    const kept: MessageRecord[] = [];
    let chars = 0;
    for (const message of all.slice(-count).reverse()) {
      chars += message.text.length + (message.data?.length ?? 0);
      if (chars > historyChars && kept.length > 0) break;
      kept.unshift(message);
    }
    return kept;
  }

  private message(message: MessageRecord, task: MessageRecord): Message {
    const own = message.sender === this.caller.agent;
    return {
      ...this.said(task, partsOf(message)),
      messageId: own ? clientMessageId(message, this.agent.id) : messageId.format(message.seq),
      role: own ? Role.ROLE_USER : Role.ROLE_AGENT,
      metadata: metadataOf(message),
    };
  }

  /** A word about the state that is no message on the bus. */
  private note(task: MessageRecord, text: string | undefined): Message | undefined {
    return text ? this.said(task, [textPart(text)]) : undefined;
  }

  private said(task: MessageRecord, parts: Part[]): Message {
    return {
      messageId: `${messageId.format(task.seq)}-status`,
      contextId: contextOf(task),
      taskId: messageId.format(task.seq),
      role: Role.ROLE_AGENT,
      parts,
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
  }

  private artifact(result: MessageRecord): Task['artifacts'][number] {
    return {
      artifactId: messageId.format(result.seq),
      name: 'answer',
      description: '',
      parts: partsOf(result),
      metadata: metadataOf(result),
      extensions: [],
    };
  }
}
