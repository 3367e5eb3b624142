import type { AckOutcome } from '../../core/model.ts';
import type { StoryMessage } from '../../protocol/storyMessages.ts';
import type { Page } from '../page.ts';
import { newMessage } from '../stores/drafts.ts';
import { lineOf } from '../text/lines.ts';
import type { MenuItem } from './menu.ts';

const undelivered: ReadonlySet<string> = new Set(['stored', 'offered', 'held']);

export function isAskedOfMe(page: Page, message: StoryMessage): boolean {
  return message.request === 'pending' && message.from !== page.me && message.fates.some((f) => f.agent === page.me);
}

export function copyText(page: Page, message: StoryMessage): void {
  const whole = message.rest === undefined ? Promise.resolve(message) : page.ask('message', { id: message.id });
  void page.run(
    whole.then(({ text }) => page.ask('copy', { text })),
    'Message copied',
  );
}

/** Into the composer of this conversation, as an answer to that message. */
export function replyTo(page: Page, message: StoryMessage): void {
  const place = page.story.id ?? newMessage;
  const reply = { id: message.id, from: message.from, line: lineOf(message.text, 100) };
  page.drafts.set(place, { ...page.drafts.get(place), reply });
  page.focusWish = 'composer';
  page.announce(`Answering ${message.from}`);
}

function forward(page: Page, message: StoryMessage): void {
  const quoted = message.text.replace(/^/gm, '> ');
  const text = `From **${message.from}**, ${message.sent_at}:\n\n${quoted}\n\n`;
  page.drafts.set(newMessage, { ...page.drafts.get(newMessage), text });
  page.compose();
}

function acknowledge(page: Page, message: StoryMessage, outcome: AckOutcome): void {
  void page.run(page.ask('ack', { id: message.id, outcome }), `Acknowledged: ${outcome}`);
}

/** Everything that can be done with a message now. */
export function messageActions(page: Page, message: StoryMessage): MenuItem[] {
  const { me, canAct } = page;
  const items: MenuItem[] = [
    { icon: 'copy', label: 'Copy text', run: () => copyText(page, message) },
    ...(canAct
      ? [
          ...(message.notice ? [] : [{ icon: 'reply', label: 'Reply', run: () => replyTo(page, message) }]),
          { icon: 'arrow-right', label: 'Forward…', run: () => forward(page, message) },
        ]
      : []),
  ];
  if (!canAct) return items;
  const mine = message.fates.find((fate) => fate.agent === me);
  if (mine && message.from !== me) {
    if (mine.step !== 'acked' && mine.step !== 'replied') {
      items.push(
        { icon: 'pass', label: 'Acknowledge as done', run: () => acknowledge(page, message, 'done'), apart: true },
        { icon: 'circle-slash', label: 'Acknowledge as blocked', run: () => acknowledge(page, message, 'blocked') },
        { icon: 'error', label: 'Acknowledge as rejected', run: () => acknowledge(page, message, 'rejected') },
      );
    }
    if (!message.unread) {
      items.push({
        icon: 'mail',
        label: 'Mark as unread',
        run: () => page.markUnread(message.id),
        apart: true,
      });
    }
  }
  if (message.fates.some((fate) => fate.agent !== me && undelivered.has(fate.step))) {
    items.push({
      icon: 'rocket',
      label: 'Deliver now',
      run: () =>
        void page.run(
          page.ask('release', { id: message.id, verdict: 'once' }),
          'Let go: its receipt tells how far it gets',
        ),
      apart: true,
    });
  }
  if (message.from === me && message.request === 'pending') {
    items.push({
      icon: 'close',
      label: 'Cancel this request',
      run: () => void page.run(page.ask('cancel', { id: message.id }), 'Cancelled'),
    });
  }
  return items;
}
