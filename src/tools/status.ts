import { z } from 'zod';
import type { Bus } from '../core/bus.ts';
import { cleanLine } from '../core/envelope.ts';
import { BusError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Caller, Presence, ReceiptView } from '../core/model.ts';
import type { MessageStatus, RequestSummary } from '../core/progress.ts';
import type { TellView } from '../core/tells.ts';
import { defineTool } from './defineTool.ts';
import { messagesText, taskText } from './messageText.ts';
import { page } from './schemas.ts';

export interface RequestsPage {
  requests: RequestSummary[];
  next?: string;
  /** What the caller will be told. */
  tells?: TellView[];
}

/** Whether the caller will be told when that agent is idle. */
export interface AgentWatch {
  agent: string;
  presence: Presence;
  idle: boolean;
  telling: boolean;
}

/** What became of the wish to be told, where it was one. */
type ToldStatus = MessageStatus & { tell_note?: string };

const input = z.strictObject({
  id: z.string().max(20).optional(),
  cancel: z.boolean().optional(),
  agent: z.string().max(limits.nameLength).optional(),
  tell: z.boolean().optional(),
  state: z.enum(['pending', 'answered', 'failed', 'cancelled', 'expired']).optional(),
  role: z.enum(['sent', 'received']).optional(),
  order: z.enum(['newest', 'oldest']).optional(),
  ...page,
});

type Asked = z.output<typeof input>;

export const status = defineTool({
  name: 'status',
  title: 'How far a message got',
  effect: 'changes',
  about:
    "With id: which step the message reached with each recipient and when (stored, offered, shown, acked, replied), and a request's state, progress and answer; cancel ends your own pending request. tell: get one notice when that request has ended, or agent is idle. Without: your requests, newest first.",
  input,
  async run(asked, { bus, caller }): Promise<ToldStatus | RequestsPage | AgentWatch> {
    refuseMixture(asked);
    const { id, agent, tell, cancel, state, role, order, limit, cursor } = asked;
    if (agent !== undefined) return watch(bus, caller, agent, tell);
    if (id !== undefined && tell !== undefined) return tellEnded(bus, caller, id, tell);
    if (id !== undefined) return cancel ? bus.cancel(caller, id) : bus.status(caller, id);
    const tells = bus.tells.list(caller.agent);
    return {
      ...bus.progress.requests(caller, { role: role ?? 'sent', state, order: order ?? 'newest', limit, cursor }),
      ...(tells.length > 0 && { tells }),
    };
  },
  shown: (result) => ('answer' in result && result.answer ? [result.answer.id] : []),
  render(result) {
    if ('requests' in result) return pageText(result);
    return 'idle' in result ? watchText(result) : statusText(result);
  },
});

function refuseMixture({ id, agent, tell, cancel, state, role, order, cursor }: Asked): void {
  if (id === undefined && cancel) {
    throw new BusError('invalid-input', 'To cancel a request, name it.', {
      next: 'Give its `id`; status with state "pending" lists your open requests.',
    });
  }
  if (id === undefined && agent === undefined && tell !== undefined) {
    throw new BusError('invalid-input', '`tell` needs to know what about.', {
      next: 'Give the `id` of a request, or the name of an `agent`.',
    });
  }
  if (id !== undefined && (agent !== undefined || (cancel && tell !== undefined))) {
    throw new BusError('invalid-input', 'Give one of `id` with `cancel`, `id` with `tell`, and `agent` with `tell`.', {
      next: 'Nothing was done. Make two calls.',
    });
  }
  if ((id ?? agent) !== undefined && [state, role, order, cursor].some((filter) => filter !== undefined)) {
    throw new BusError(
      'invalid-input',
      '`id` and `agent` ask for one; `state`, `role`, `order` and `cursor` are for the list.',
      { next: 'Give `id` alone, or leave it out to list requests.' },
    );
  }
}

async function watch(bus: Bus, caller: Caller, name: string, tell: boolean | undefined): Promise<AgentWatch> {
  const agent = bus.roster.require(name);
  const telling =
    tell === undefined ? bus.tells.has(caller.agent, 'idle', agent.id) : await bus.tells.whenIdle(caller, agent, tell);
  return { agent: agent.name, presence: bus.presence.of(agent.id), idle: bus.tells.isIdle(agent.id), telling };
}

async function tellEnded(bus: Bus, caller: Caller, id: string, tell: boolean): Promise<ToldStatus> {
  const message = bus.visibility.message(caller, id);
  const telling = await bus.tells.whenEnded(caller, message, tell);
  const status = bus.status(caller, id);
  if (!tell || telling) return status;
  const isOwn = message.sender === caller.agent && status.request?.state === 'pending';
  const tell_note = isOwn
    ? 'It is your own request: its answer, or a notice of its end, comes to your inbox by itself.'
    : 'It has ended already, so there is nothing to tell.';
  return { ...status, tell_note };
}

function pageText({ requests, next, tells }: RequestsPage): string {
  const lines = requests.map((request) => {
    const to = request.to.length > 5 ? `${request.to.slice(0, 5).join(', ')} …` : request.to.join(', ');
    const note = request.note ? `: "${cleanLine(request.note, 200)}"` : '';
    const task = request.task ? `; ${taskText(request.task)}` : '';
    return `- ${request.id} ${request.state}${note}, ${request.from} to ${to}, ${request.sent_at}${task}: "${cleanLine(request.line, 100)}"`;
  });
  if (lines.length === 0) lines.push('None.');
  if (next) lines.push(`More: cursor "${next}".`);
  for (const { idle, ended, until } of tells ?? [])
    lines.push(
      `You will be told when ${idle === undefined ? `${ended} has ended` : `${idle} is idle`}, until ${until}.`,
    );
  return lines.join('\n');
}

function watchText({ agent, presence, idle, telling }: AgentWatch): string {
  if (idle) return `${agent} is idle now${telling ? '' : ': there is nothing to wait for'}.`;
  return `${agent} is ${presence}. ${telling ? 'You get a notice once it is idle.' : 'You will not be told when it is idle.'}`;
}

function statusText(result: ToldStatus): string {
  const lines = [`${result.id}, ${result.kind} from ${result.from}, stored ${result.sent_at}`];
  if (result.request) {
    const note = result.request.note ? `: "${cleanLine(result.request.note, 300)}"` : '';
    lines.push(`Request: ${result.request.state}${note}`);
  }
  if (result.task) lines.push(taskText(result.task));
  for (const recipient of result.recipients) {
    const steps = recipient.steps.map(stepText).join(' → ');
    lines.push(`- ${recipient.agent}: ${recipient.step}${steps ? ` (${steps})` : ''}`);
  }
  if (result.telling) lines.push('You get a notice once it has ended.');
  if (result.tell_note) lines.push(result.tell_note);
  if (result.answer) lines.push('The answer:', messagesText([result.answer]));
  return lines.join('\n');
}

function stepText(step: ReceiptView): string {
  const by = step.route ? ` by ${step.route}` : '';
  const outcome = step.outcome ? ` ${step.outcome}` : '';
  const note = step.note ? ` "${cleanLine(step.note, 200)}"` : '';
  return `${step.step}${outcome}${by} ${step.at}${note}`;
}
