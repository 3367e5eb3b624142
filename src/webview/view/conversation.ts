import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { OverviewEntry } from '../../protocol/storyMessages.ts';
import '../picture/pictureView.ts';
import type { Observable } from '../stores/observable.ts';
import { doingSentence } from '../text/words.ts';
import { agentChip } from './agentCard.ts';
import './composer.ts';
import './history.ts';
import { LightElement } from './lightElement.ts';
import { emptyState, errorText, icon, iconButton, shownText } from './pieces.ts';

const membersAtFirst = 6;

/** One conversation: who is in it, what was said or a picture of it, and a place to write. */
class Conversation extends LightElement {
  private allMembers = false;

  protected override watched(): Observable[] {
    return [this.page, this.page.story, this.page.agents];
  }

  protected override render(): TemplateResult {
    const { page } = this;
    const { story } = page;
    const conversation = story.conversation ?? page.inbox.row(story.id ?? '');
    return html`<div class="conversation" @keydown=${(event: KeyboardEvent) => this.key(event)}>
      ${this.head(conversation)} ${conversation ? this.members(conversation) : nothing} ${this.body()}
      ${conversation && !page.picture ? html`${this.doing(conversation)}${this.place(conversation)}` : nothing}
    </div>`;
  }

  protected override updated(_changed: PropertyValues): void {
    const { page } = this;
    if (page.focusWish === 'history' && page.picture) {
      page.focusWish = undefined;
      this.find('.picture-box')?.focus();
    }
  }

  /** Where the person writes, if anybody reads it. */
  private place(conversation: OverviewEntry): TemplateResult {
    const { page } = this;
    if (conversation.notices !== undefined) {
      return html`<p class="nobody-reads">
        ${icon('info')}<span
          >Notices of the bus itself. Nobody reads an answer here: write to the agent they name.</span
        >
      </p>`;
    }
    return html`<ab-composer .page=${page} .place=${conversation.id} .conversation=${conversation}></ab-composer>`;
  }

  private head(conversation: OverviewEntry | undefined): TemplateResult {
    const { page } = this;
    const inTab = page.start.place === 'tab';
    const other = conversation && otherOf(conversation, page.me);
    return html`<header class="head">
      ${inTab ? nothing : iconButton('arrow-left', 'Back to the inbox', () => page.goInbox())}
      ${
        other && other !== conversation?.notices
          ? html`<h1 class="head-title">${agentChip(page, other, 'chip-title')}</h1>`
          : html`<h1 class="head-title" title=${conversation?.title ?? ''}>
              ${conversation?.title ?? 'Conversation'}
            </h1>`
      }
      ${iconButton(
        page.picture ? 'list-unordered' : 'type-hierarchy',
        page.picture ? 'Show the messages' : 'Show as a picture',
        () => page.togglePicture(),
        { disabled: !conversation },
      )}
      ${
        inTab
          ? nothing
          : iconButton('link-external', 'Open in an editor tab', () => this.openTab(), { disabled: !conversation })
      }
    </header>`;
  }

  private members(conversation: OverviewEntry): TemplateResult | typeof nothing {
    const { page } = this;
    const { members } = conversation;
    if (otherOf(conversation, page.me) !== undefined) return nothing;
    const others = members.filter((name) => name !== page.me && name !== conversation.notices);
    const shown = this.allMembers ? others : others.slice(0, membersAtFirst);
    const hidden = others.length - shown.length;
    const here = members.includes(page.me);
    return html`<div class="members" role="group" aria-label="Members">
      ${shown.map((name) => agentChip(page, name, 'chip-bare'))}
      ${
        hidden > 0
          ? html`<button
              type="button"
              class="chip chip-bare chip-more"
              aria-label="Show ${hidden} more members"
              @click=${() => this.showMembers()}
            >
              +${hidden}
            </button>`
          : nothing
      }
      ${here ? nothing : html`<span class="members-you">${icon('eye')} you are watching</span>`}
    </div>`;
  }

  private body(): TemplateResult {
    const { page } = this;
    const { story } = page;
    if (story.failed && story.messages.length === 0) {
      return emptyState(
        'warning',
        'This conversation could not be read',
        errorText(story.failed),
        html`<button type="button" class="button" @click=${() => void story.reload()}>Try again</button>`,
      );
    }
    if (page.picture) return html`<ab-picture .page=${page}></ab-picture>`;
    return html`<ab-history .page=${page}></ab-history>`;
  }

  private doing({ members }: OverviewEntry): TemplateResult | typeof nothing {
    const lines = members.flatMap((name) => {
      const agent = this.page.agents.get(name);
      const sentence = agent && agent.kind === 'agent' ? doingSentence(agent) : undefined;
      return agent && sentence ? [{ sentence, presence: agent.presence }] : [];
    });
    lines.sort((a) => (a.presence === 'waiting' ? -1 : 1));
    if (lines.length === 0) return nothing;
    return html`<div class="doing" aria-label="What members are doing" role="group">
      ${lines
        .slice(0, 2)
        .map(
          ({ sentence, presence }) =>
            html`<p class="doing-line doing-${presence}">
              ${
                presence === 'working'
                  ? html`<span class="pulse" aria-hidden="true"><i></i><i></i><i></i></span>`
                  : icon('warning')
              }<span>${shownText(sentence)}</span>
            </p>`,
        )}
      ${lines.length > 2 ? html`<p class="doing-line doing-more">and ${lines.length - 2} more at work</p>` : nothing}
    </div>`;
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    if (this.page.picture) this.page.togglePicture(false);
    else this.page.goInbox();
  }

  private openTab(): void {
    const { page } = this;
    if (page.story.id !== undefined) void page.run(page.ask('openTab', { conversation: page.story.id }));
  }

  private showMembers(): void {
    this.allMembers = true;
    this.requestUpdate();
  }
}

/** With whom the person talks alone; the title is then that agent. */
function otherOf({ kind, members }: OverviewEntry, me: string): string | undefined {
  return kind === 'direct' && members.includes(me) ? members.find((name) => name !== me) : undefined;
}

customElements.define('ab-conversation', Conversation);
