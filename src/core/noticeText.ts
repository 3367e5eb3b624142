import { cleanLine } from './envelope.ts';
import type { ReceiptRecord, RequestState } from './model.ts';
import { isoTime } from './views.ts';

/** What a notice is about, as its reader knows it: what others wrote is cleaned here, whoever reads it later. */
export interface NoticedRequest {
  id: string;
  text: string;
  to: string[];
  /** How far it got with each recipient, oldest step first. */
  reached: { agent: string; receipts: readonly ReceiptRecord[] }[];
}

type Ended = Exclude<RequestState, 'pending'>;

const named = 5;

/** To whoever asked: it is over, and no reply has come. */
export function endText(request: NoticedRequest, state: Ended, reason: string | null): string {
  const happened = {
    expired: 'has expired without an answer',
    failed: 'has failed',
    answered: 'was marked as done, without a reply',
    cancelled: 'was cancelled',
  }[state];
  const next = {
    expired: 'It is not offered any more. If you still need it, send it again with more time, or ask somebody else.',
    failed: 'It is not offered any more. Ask somebody else (agents tells who is here), or go on without it.',
    answered: 'Nothing more comes of it. If you need it in words, ask again.',
    cancelled: 'It is not offered any more.',
  }[state];
  return lines(
    `Your request ${request.id} to ${listed(request.to)} ${happened}.`,
    reason && `Reason given: "${cleanLine(reason, 300)}"`,
    asked(request),
    howFar(request),
    next,
  );
}

/** To whoever asked: it is still open, but that agent is away. */
export function unreachedText(request: NoticedRequest, away: string, lastSeen: number): string {
  return lines(
    `Your request ${request.id} has not reached ${away} yet: it is offline and nothing here can wake it. It was last seen ${isoTime(lastSeen)}.`,
    asked(request),
    howFar(request),
    `The request stays open and is offered as soon as ${away} is back. You need not wait for it: ask somebody else, go on without it, or end it with status and cancel.`,
  );
}

/** To whoever wanted to know: a request of somebody else's has ended. */
export function endedText(request: NoticedRequest, state: Ended, answer: { id: string; from: string } | null): string {
  const how = answer ? `${state} by ${answer.from} (${answer.id})` : state;
  return lines(`You wanted to be told: request ${request.id} to ${listed(request.to)} is ${how}.`, asked(request));
}

export function idleText(agent: string): string {
  return `You wanted to be told: ${agent} is idle now.`;
}

export function goneText(agent: string): string {
  return `You wanted to be told when ${agent} is idle: it has left the bus. Call agents to see who is here.`;
}

/** Nothing happened in all that time. */
export function lapsedText(what: string, hours: number): string {
  const span = hours >= 1 ? `${Math.round(hours)} h` : `${Math.round(hours * 60)} min`;
  return `You wanted to be told when ${what}: that has not happened in ${span}. You will not be told any more; ask again if you still want it.`;
}

/** The furthest that is known, and not a step more. */
export function reachedText(receipts: readonly ReceiptRecord[]): string {
  const last = (step: ReceiptRecord['step']): ReceiptRecord | undefined =>
    receipts.findLast((receipt) => receipt.step === step);
  const acked = last('acked');
  if (acked) return `acknowledged as ${acked.outcome ?? 'done'} ${isoTime(acked.at)}`;
  const shown = last('shown');
  if (shown) return `seen ${isoTime(shown.at)} (${shown.route ?? 'by itself'}), not answered`;
  const offered = last('offered');
  if (offered) return `offered ${isoTime(offered.at)} (${offered.route ?? 'by itself'}), not known to be seen`;
  const held = last('held');
  if (held) return `stored, never offered${quoted(held.note)}`;
  return 'stored, never offered';
}

function howFar({ reached }: NoticedRequest): string {
  const told = reached.slice(0, named).map(({ agent, receipts }) => `${agent}: ${reachedText(receipts)}`);
  const more = reached.length > named ? [`and ${reached.length - named} more`] : [];
  return `How far it got: ${[...told, ...more].join('; ')}.`;
}

function asked({ text }: NoticedRequest): string {
  return `Asked: "${cleanLine(text, 160)}"`;
}

function quoted(note: string | null): string {
  return note ? ` ("${cleanLine(note, 200)}")` : '';
}

function listed(names: readonly string[]): string {
  if (names.length <= named) return names.join(', ');
  return `${names.slice(0, named).join(', ')} and ${names.length - named} more`;
}

function lines(...parts: (string | null | undefined)[]): string {
  return parts.filter(Boolean).join('\n');
}
