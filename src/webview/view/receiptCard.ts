import { html, nothing, type TemplateResult } from 'lit';
import type { MessageStatus } from '../../core/progress.ts';
import type { StoryMessage } from '../../protocol/storyMessages.ts';
import { PageError } from '../api.ts';
import type { Page } from '../page.ts';
import { duration } from '../text/time.ts';
import { fateSentence, stepSentence, tickOf } from '../text/words.ts';
import { clockTime, errorText, shownText, tickMark } from './pieces.ts';
import { popover } from './popover.ts';

/** How far a message got, as a tick; pointing at it or a click tells every step. */
export function receiptButton(page: Page, message: StoryMessage): TemplateResult {
  const sentence = fateSentence(message.fates);
  return html`<button
    type="button"
    class="receipt"
    aria-haspopup="dialog"
    aria-expanded="false"
    aria-label="Receipt. ${sentence}"
    @click=${(event: Event) => open(page, event.currentTarget as HTMLElement, message, true)}
    @pointerenter=${(event: PointerEvent) => {
      const anchor = event.currentTarget as HTMLElement;
      if (event.pointerType === 'mouse') popover.hover(anchor, () => open(page, anchor, message, false));
    }}
    @pointerleave=${() => popover.leave()}
  >
    ${tickMark(tickOf(message.fates))}
  </button>`;
}

function open(page: Page, anchor: HTMLElement, message: StoryMessage, pin: boolean): void {
  const label = 'How far this message got';
  popover.open(anchor, card(message, html`<p class="card-about">Reading the receipt…</p>`), { label, pin });
  read(page, anchor, message);
  // As long as it is open, it shows each step as it happens.
  let shown = message;
  const stop = page.story.watch(() => {
    if (!popover.isOpenFor(anchor)) return stop();
    const now = page.story.message(message.id);
    if (!now || (now.fates === shown.fates && now.request === shown.request)) return;
    shown = now;
    read(page, anchor, now);
  });
}

function read(page: Page, anchor: HTMLElement, message: StoryMessage): void {
  page.ask('status', { id: message.id }).then(
    (status) => popover.update(anchor, card(message, steps(status))),
    (error: unknown) => popover.update(anchor, card(message, html`<p>${errorText(PageError.from(error))}</p>`)),
  );
}

function card(message: StoryMessage, content: TemplateResult): TemplateResult {
  return html`<div class="card receipt-card" tabindex="-1">
    <div class="card-head">${tickMark(tickOf(message.fates))}<strong>${fateSentence(message.fates)}</strong></div>
    ${content}
  </div>`;
}

function steps(status: MessageStatus): TemplateResult {
  const sent = Date.parse(status.sent_at);
  return html`${status.recipients.map(
    ({ agent, step, at, steps: all }) =>
      html`<section class="receipt-agent">
        ${status.recipients.length > 1 ? html`<p class="receipt-name">${agent}</p>` : nothing}
        <ol class="steps">
          ${(all.length > 0 ? all : [{ agent, step, at }]).map(
            (one) =>
              html`<li>
                <span class="step-what">${stepSentence(one)}</span>
                <span class="step-when"
                  >${clockTime(one.at)}
                  ${
                    Date.parse(one.at) - sent >= 1000
                      ? html`<span>+${duration(Date.parse(one.at) - sent)}</span>`
                      : nothing
                  }</span
                >
                ${'note' in one && one.note ? html`<span class="step-note" dir="auto">${shownText(one.note)}</span>` : nothing}
              </li>`,
          )}
        </ol>
      </section>`,
  )}
  ${status.recipients.length === 0 ? html`<p class="card-about">Nobody else is in this conversation.</p>` : nothing}
  ${status.request?.note ? html`<p class="card-about" dir="auto">${shownText(status.request.note)}</p>` : nothing}`;
}
