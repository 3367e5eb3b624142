import { html, nothing, type TemplateResult } from 'lit';
import type { Fate, StoryMessage } from '../../protocol/storyMessages.ts';
import { visible } from '../text/invisible.ts';
import { lineOf, plainLine } from '../text/lines.ts';
import { fateSentence, list, requestSentence } from '../text/words.ts';
import { LightElement } from './lightElement.ts';
import { openMenu } from './menu.ts';
import { copyText, isAskedOfMe, messageActions, replyTo } from './messageActions.ts';
import './messageText.ts';
import { avatar, busAvatar, clockTime, icon, iconButton, shownText } from './pieces.ts';
import { receiptButton } from './receiptCard.ts';
import { onTick } from './timeAgo.ts';

const requestIcons = {
  pending: 'clockface',
  answered: 'pass',
  failed: 'error',
  cancelled: 'circle-slash',
  expired: 'history',
} as const;

/** One message: who, what, how far it got, and what can be done about it. */
class Message extends LightElement {
  static override properties = {
    ...LightElement.properties,
    message: { attribute: false },
    /** Follows one of the same sender shortly before. */
    follows: { attribute: false },
    /** The one that the keyboard is at. */
    active: { attribute: false },
    /** Everybody it could be for is its recipient, so nobody needs naming. */
    toAll: { attribute: false },
    answeredBy: { attribute: false },
    quoted: { attribute: false },
    canAct: { attribute: false },
  };
  declare message: StoryMessage;
  declare follows: boolean;
  declare active: boolean;
  declare toAll: boolean;
  declare answeredBy: string | undefined;
  declare quoted: { from: string; line: string } | undefined;
  declare canAct: boolean;
  private hovered = false;
  private chosen: string | undefined;
  private stopTick: (() => void) | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.addEventListener('pointerenter', () => this.hover(true));
    this.addEventListener('pointerleave', () => this.hover(false));
    this.stopTick = onTick(() => this.message.request === 'pending' && this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopTick?.();
  }

  private hover(on: boolean): void {
    this.hovered = on;
    this.requestUpdate();
  }

  protected override render(): TemplateResult {
    const { message, page, follows } = this;
    const mine = message.from === page.me;
    return html`<article
      class="message ${follows ? 'message-follows' : ''} ${mine ? 'message-mine' : ''} ${message.notice ? 'message-notice' : ''} ${
        message.request ? `asks asks-${message.request}` : ''
      }"
      tabindex=${this.active ? 0 : -1}
      aria-label=${this.spoken()}
      @keydown=${(event: KeyboardEvent) => this.key(event)}
    >
      <div class="message-side">${follows ? nothing : message.notice ? busAvatar() : avatar(message.from)}</div>
      <div class="message-main">
        <div class="message-head">
          ${follows ? nothing : html`<span class="message-from">${mine ? 'You' : message.from}</span>${this.about()}`}
          <span class="message-when">${clockTime(message.sent_at)}${this.receipt()}</span>
        </div>
        ${this.quote()}
        <ab-text .page=${page} .message=${message}></ab-text>
        ${this.files()} ${this.held()} ${this.request()}
      </div>
      ${this.hovered || this.active ? this.toolbar() : nothing}
    </article>`;
  }

  private spoken(): string {
    const { message, page } = this;
    const from = message.from === page.me ? 'You' : message.from;
    const verb =
      message.kind === 'request' ? 'asked' : message.kind === 'reply' ? 'answered' : message.notice ? 'tells' : 'wrote';
    const line = visible(plainLine(lineOf(message.text, 160)));
    return [
      `${from} ${verb}`,
      this.toAll ? '' : ` to ${list(message.to)}`,
      `: ${line}`,
      message.unread ? '. Unread' : '',
      message.priority === 'urgent' ? '. Urgent' : '',
      `. ${fateSentence(message.fates)}`,
    ].join('');
  }

  /** That the person has it needs no saying: they are looking at it. */
  private receipt(): TemplateResult | typeof nothing {
    const { message, page } = this;
    const onlyMe = message.fates.length > 0 && message.fates.every((fate) => fate.agent === page.me);
    return onlyMe ? nothing : receiptButton(page, message);
  }

  private about(): TemplateResult | typeof nothing {
    const { message, page } = this;
    if (message.kind !== 'request' && message.priority !== 'urgent' && this.toAll) return nothing;
    const to = message.to.map((name) => (name === page.me ? 'you' : name));
    return html`<span class="message-about"
      >${message.kind === 'request' ? html`<span class="tag">asks</span>` : nothing}${
        this.toAll
          ? nothing
          : html`<span class="message-to">${icon('arrow-small-right')}<span>${list(to)}</span></span>`
      }${
        message.priority === 'urgent' ? html`<span class="tag tag-urgent">${icon('flame')}urgent</span>` : nothing
      }</span
    >`;
  }

  private quote(): TemplateResult | typeof nothing {
    const { message, quoted, page } = this;
    const id = message.reply_to;
    if (id === undefined) return nothing;
    return html`<button type="button" class="quote" title="Go to that message" @click=${() => page.jump(id)}>
      ${icon('reply')}<span class="quote-text" dir="auto"
        >${
          quoted
            ? html`<strong>${quoted.from === page.me ? 'You' : quoted.from}</strong>
                ${shownText(plainLine(quoted.line))}`
            : 'An earlier message'
        }</span
      >
    </button>`;
  }

  private files(): TemplateResult | typeof nothing {
    const { message, page } = this;
    if (!message.files?.length) return nothing;
    const open = (href: string) => void page.run(page.ask('open', { href, message: message.id }));
    return html`<div class="files">
      ${message.files.map(
        (file) =>
          html`<button type="button" class="file" title="Open ${visible(file)}" @click=${() => open(file)}>
            ${icon('file')}<span>${shownText(file.split(/[\\/]/).at(-1) || file)}</span>
          </button>`,
      )}
    </div>`;
  }

  /** Held for somebody: the person decides. */
  private held(): TemplateResult | typeof nothing {
    const held = this.message.fates.filter((fate) => fate.step === 'held');
    if (held.length === 0) return nothing;
    return html`<div class="decide" role="group" aria-label="Held: decide">
      <p class="decide-why">${icon('shield')}<span>${this.heldWhy(held)}</span></p>
      <div class="decide-buttons">
        ${this.verdict('once', 'Allow once', true)} ${this.verdict('always', 'Always', false)}
        ${this.verdict('never', 'Never', false)}
      </div>
    </div>`;
  }

  private heldWhy(held: readonly Fate[]): TemplateResult {
    const note = held.find((fate) => fate.note)?.note;
    const names = list(held.map((fate) => fate.agent));
    return html`Held, ${names} has not heard
    this${note ? html`: ${shownText(note)}` : '. It may not be woken by this sender yet.'}`;
  }

  private verdict(verdict: 'once' | 'always' | 'never', label: string, first: boolean): TemplateResult {
    const { page, message } = this;
    const give = async () => {
      this.chosen = verdict;
      this.requestUpdate();
      await page.run(page.ask('release', { id: message.id, verdict }), verdict === 'never' ? 'Kept back' : 'Let go');
      this.chosen = undefined;
      this.requestUpdate();
    };
    return html`<button
      type="button"
      class="button button-small ${first ? '' : 'button-secondary'}"
      ?disabled=${!this.canAct || this.chosen !== undefined}
      @click=${() => void give()}
    >
      ${label}
    </button>`;
  }

  private request(): TemplateResult | typeof nothing {
    const { message, page } = this;
    if (!message.request) return nothing;
    const asked = isAskedOfMe(page, message);
    const sentence = requestSentence(message, this.answeredBy, page.me, Date.now());
    const answer = message.answer;
    return html`<div class="request request-${message.request}">
        ${icon(requestIcons[message.request])}${
          answer
            ? html`<button type="button" class="link-button" @click=${() => page.jump(answer)}>${sentence}</button>`
            : html`<span>${sentence}</span>`
        }
      </div>
      ${asked ? this.answers() : this.offeredOptions()}`;
  }

  private answers(): TemplateResult {
    const { message, page } = this;
    const answer = async (option: string) => {
      this.chosen = option;
      this.requestUpdate();
      await page.answer(message.id, option);
      this.chosen = undefined;
      this.requestUpdate();
    };
    return html`<div class="answers" role="group" aria-label="Answer ${message.from}">
      ${message.options?.map(
        (option, i) =>
          html`<button
            type="button"
            class="button ${i === 0 ? '' : 'button-secondary'}"
            dir="auto"
            ?disabled=${!this.canAct || this.chosen !== undefined}
            @click=${() => void answer(option)}
          >
            ${this.chosen === option ? icon('loading codicon-modifier-spin') : nothing}${shownText(option)}
          </button>`,
      )}
      <button
        type="button"
        class="button ${message.options?.length ? 'button-quiet' : ''}"
        ?disabled=${!this.canAct}
        @click=${() => replyTo(page, message)}
      >
        ${message.options?.length ? 'Answer in words…' : 'Answer…'}
      </button>
    </div>`;
  }

  private offeredOptions(): TemplateResult | typeof nothing {
    const { options, request } = this.message;
    if (!options?.length || request !== 'pending') return nothing;
    return html`<p class="options-note">
      To choose from: ${options.map((option, i) => html`${i > 0 ? ', ' : ''}<q dir="auto">${shownText(option)}</q>`)}
    </p>`;
  }

  private toolbar(): TemplateResult {
    const { page, message } = this;
    return html`<div class="toolbar" role="toolbar" aria-label="Message actions">
      ${this.canAct && !message.notice ? iconButton('reply', 'Reply', () => replyTo(page, message)) : nothing}
      ${iconButton('copy', 'Copy text', () => copyText(page, message))}
      <button
        type="button"
        class="icon-button"
        aria-label="More actions"
        title="More actions"
        aria-haspopup="menu"
        aria-expanded="false"
        @click=${(event: Event) => this.menu(event.currentTarget as HTMLElement)}
      >
        ${icon('ellipsis')}
      </button>
    </div>`;
  }

  private menu(anchor: HTMLElement): void {
    openMenu(anchor, 'Message actions', messageActions(this.page, this.message));
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== event.currentTarget) return;
    if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
      event.preventDefault();
      this.menu(event.currentTarget as HTMLElement);
    } else if (event.key === 'r' && this.canAct && !this.message.notice && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      replyTo(this.page, this.message);
    }
  }
}

customElements.define('ab-message', Message);
