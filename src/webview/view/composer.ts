import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { limits } from '../../core/limits.ts';
import type { OverviewEntry } from '../../protocol/storyMessages.ts';
import { PageError } from '../api.ts';
import { contentOf, newMessage, toSend, type SavedDraft } from '../stores/drafts.ts';
import type { ErrorShape } from '../stores/errorShape.ts';
import type { Observable } from '../stores/observable.ts';
import { plainLine } from '../text/lines.ts';
import { list } from '../text/words.ts';
import { LightElement } from './lightElement.ts';
import { errorText, icon, iconButton, shownText } from './pieces.ts';
import './recipients.ts';

const isMac = navigator.platform.startsWith('Mac');
const sendKeys = isMac ? '⌘Enter' : 'Ctrl+Enter';

/** Where the person writes: to whom, what, and whether an answer is wanted. Nothing written is lost by anything. */
class Composer extends LightElement {
  static override properties = {
    ...LightElement.properties,
    place: { attribute: false },
    conversation: { attribute: false },
  };
  /** Under which name the draft is kept: a conversation, or the new message. */
  declare place: string;
  declare conversation: OverviewEntry | undefined;
  private sending = false;
  private failed: ErrorShape | undefined;

  protected override watched(): Observable[] {
    return [this.page, this.page.agents];
  }

  private get draft(): SavedDraft {
    return this.page.drafts.get(this.place);
  }

  private change(change: Partial<SavedDraft>): void {
    this.page.drafts.set(this.place, { ...this.draft, ...change });
    this.failed = undefined;
    this.requestUpdate();
  }

  /** In a conversation: everybody else in it. */
  private get recipients(): string[] {
    const { conversation } = this;
    if (!conversation) return this.draft.to;
    if (conversation.kind === 'channel') return [conversation.title];
    return conversation.members.filter((name) => name !== this.page.me);
  }

  private get canSend(): boolean {
    const { draft } = this;
    return this.page.canAct && !this.sending && draft.text.trim() !== '' && this.recipients.length > 0;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('place')) this.failed = undefined;
  }

  protected override render(): TemplateResult {
    const { page, draft } = this;
    return html`<form
      class="composer ${this.place === newMessage ? 'composer-new' : ''}"
      aria-label="Write a message"
      @submit=${(event: Event) => {
        event.preventDefault();
        void this.send();
      }}
      @keydown=${(event: KeyboardEvent) => this.key(event)}
    >
      ${
        this.conversation
          ? nothing
          : html`<ab-recipients
              .page=${page}
              .chosen=${draft.to}
              @change=${(event: CustomEvent<string[]>) => this.change({ to: event.detail })}
            ></ab-recipients>`
      }
      <div class="composer-box">
        ${this.quote()}
        <textarea
          class="composer-text"
          rows="1"
          dir="auto"
          aria-label="Message"
          placeholder=${this.placeholder()}
          .value=${draft.text}
          ?disabled=${!page.canAct}
          @input=${(event: InputEvent) => this.typed(event.target as HTMLTextAreaElement)}
        ></textarea>
        ${draft.asks ? this.options() : nothing} ${this.bar()}
      </div>
      ${this.failed ? html`<p class="composer-error" role="alert">${icon('error')}${errorText(this.failed)}</p>` : nothing}
    </form>`;
  }

  private placeholder(): string {
    const { conversation, page } = this;
    if (page.start.readOnly) return 'Read only in an untrusted workspace';
    if (!conversation) return 'What do you want to say or ask?';
    if (this.draft.reply) return 'Your answer';
    const names = conversation.kind === 'channel' ? conversation.title : list(this.recipients);
    return conversation.members.includes(page.me) || conversation.kind === 'channel'
      ? `Message ${names}`
      : `Join in: write to ${names}`;
  }

  private quote(): TemplateResult | typeof nothing {
    const { reply } = this.draft;
    if (!reply) return nothing;
    return html`<div class="composer-quote">
      ${icon('reply')}<span class="quote-text" dir="auto"
        ><strong>${reply.from === this.page.me ? 'You' : reply.from}</strong> ${shownText(plainLine(reply.line))}</span
      >${iconButton('close', 'Do not answer that message', () => this.dropReply())}
    </div>`;
  }

  private bar(): TemplateResult {
    const { draft } = this;
    const disabled = !this.page.canAct;
    return html`<div class="composer-bar">
      <div class="kinds" role="radiogroup" aria-label="Kind">
        ${this.kind(false, draft.reply ? 'Answer' : 'Tell', 'No answer is needed')}
        ${this.kind(true, 'Ask', 'You want an answer')}
      </div>
      ${iconButton('flame', 'Urgent', () => this.change({ urgent: !draft.urgent }), {
        pressed: draft.urgent,
        disabled,
        title: draft.urgent ? 'Urgent (on)' : 'Mark as urgent',
      })}
      <span class="composer-space"></span>
      <button
        type="submit"
        class="button button-send"
        title="Send (${sendKeys})"
        aria-keyshortcuts=${isMac ? 'Meta+Enter' : 'Control+Enter'}
        ?disabled=${!this.canSend}
      >
        ${icon(this.sending ? 'loading codicon-modifier-spin' : 'send')}<span class="send-word"
          >${this.sending ? 'Sending…' : draft.asks ? 'Ask' : 'Send'}</span
        >
      </button>
    </div>`;
  }

  private kind(asks: boolean, label: string, title: string): TemplateResult {
    return html`<label class="filter" title=${title}>
      <input
        type="radio"
        class="hidden-text"
        name="kind"
        .checked=${this.draft.asks === asks}
        ?disabled=${!this.page.canAct}
        @change=${() => this.change({ asks })}
      />
      <span class="filter-face">${label}</span>
    </label>`;
  }

  private options(): TemplateResult {
    const { options } = this.draft;
    const put = (i: number, value: string) => this.change({ options: options.with(i, value) });
    return html`<fieldset class="options">
      <legend class="hidden-text">Answers to choose from</legend>
      ${options.map(
        (option, i) =>
          html`<div class="option">
            ${icon('circle-large')}<input
              type="text"
              dir="auto"
              aria-label="Answer ${i + 1}"
              placeholder="Answer ${i + 1}"
              maxlength=${limits.optionLength}
              .value=${option}
              @input=${(event: InputEvent) => put(i, (event.target as HTMLInputElement).value)}
              @keydown=${(event: KeyboardEvent) => this.optionKey(event, i)}
            />${iconButton('close', `Remove answer ${i + 1}`, () => this.change({ options: options.toSpliced(i, 1) }))}
          </div>`,
      )}
      ${
        options.length < limits.options
          ? html`<button type="button" class="link-button option-add" @click=${() => this.addOption(options.length)}>
              ${icon('add')}${options.length === 0 ? 'Add answers to choose from' : 'Add another'}
            </button>`
          : nothing
      }
    </fieldset>`;
  }

  private addOption(at: number): void {
    this.change({ options: this.draft.options.toSpliced(at, 0, '') });
    void this.updateComplete.then(() => this.querySelectorAll<HTMLElement>('.option input')[at]?.focus());
  }

  private optionKey(event: KeyboardEvent, i: number): void {
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (this.draft.options.length < limits.options) this.addOption(i + 1);
  }

  protected override updated(_changed: PropertyValues): void {
    const area = this.find<HTMLTextAreaElement>('textarea');
    if (!area) return;
    this.grow(area);
    if (this.page.focusWish !== 'composer') return;
    this.page.focusWish = undefined;
    if (this.place === newMessage && this.draft.to.length === 0) this.find('.recipients input')?.focus();
    else area.focus();
  }

  private typed(area: HTMLTextAreaElement): void {
    this.change({ text: area.value });
  }

  private grow(area: HTMLTextAreaElement): void {
    area.style.height = 'auto';
    const most = Math.max(96, innerHeight * (this.place === newMessage ? 0.5 : 0.35));
    area.style.height = `${Math.min(area.scrollHeight, most)}px`;
  }

  private dropReply(): void {
    const { reply: _reply, ...rest } = this.draft;
    this.page.drafts.set(this.place, rest);
    this.requestUpdate();
    this.find('textarea')?.focus();
  }

  private key(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void this.send();
    } else if (event.key === 'Escape' && this.draft.reply) {
      event.preventDefault();
      this.dropReply();
    }
  }

  private async send(): Promise<void> {
    if (!this.canSend) return;
    const { page, place, draft } = this;
    const message = toSend(draft, this.recipients, () => crypto.randomUUID());
    page.drafts.set(place, { ...draft, tried: { key: message.key, content: contentOf(message) } });
    page.saved.flush();
    this.sending = true;
    this.failed = undefined;
    this.requestUpdate();
    try {
      const sent = await page.ask('send', message);
      page.drafts.clear(place);
      page.announce('Sent');
      page.sent(sent.conversation);
    } catch (error) {
      const { code, message: what, next } = PageError.from(error);
      this.failed = { code, message: what, next };
    }
    this.sending = false;
    this.requestUpdate();
    if (this.isConnected) this.find('textarea')?.focus();
  }
}

customElements.define('ab-composer', Composer);
