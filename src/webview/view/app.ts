import { html, nothing, type TemplateResult } from 'lit';
import type { Observable } from '../stores/observable.ts';
import './composeScreen.ts';
import './conversation.ts';
import './inbox.ts';
import { LightElement } from './lightElement.ts';
import { emptyState, errorText, icon, iconButton } from './pieces.ts';

/** The frame: what holds for all screens (is there a hub, is it paused), and the screen itself. */
class App extends LightElement {
  private starting = false;

  protected override watched(): Observable[] {
    return [this.page];
  }

  protected override render(): TemplateResult {
    return html`${this.banners()}
      <main class="screen">${this.screen()}</main>
      <div class="hidden-text" role="status" aria-live="polite">${this.page.announcement}</div>`;
  }

  private screen(): TemplateResult {
    const { page } = this;
    const { hub } = page.start;
    const title = html`<h1 class="hidden-text">Agent Bus</h1>`;
    if (!page.ready)
      return html`${title}
        <div class="empty" aria-busy="true">${icon('loading codicon-modifier-spin')}</div>`;
    // What has been loaded stays readable while the hub is away.
    const empty = page.screen === 'conversation' ? page.story.messages.length === 0 : !page.inbox.loaded;
    if (hub === 'off' && (empty || page.screen === 'inbox')) return html`${title}${this.hubOff()}`;
    if (hub === 'connecting' && empty) {
      const sign = 'loading codicon-modifier-spin';
      return html`${title}${emptyState(sign, 'Connecting to the hub…', 'This takes a second or two.')}`;
    }
    const inTab = page.start.place === 'tab';
    return html`${
      inTab
        ? nothing
        : html`<ab-inbox .page=${page} ?hidden=${page.screen !== 'inbox'} .shown=${page.screen === 'inbox'}></ab-inbox>`
    }
    ${page.screen === 'conversation' ? html`<ab-conversation .page=${page}></ab-conversation>` : nothing}
    ${page.screen === 'compose' ? html`<ab-compose-screen .page=${page}></ab-compose-screen>` : nothing}`;
  }

  private hubOff(): TemplateResult {
    const { readOnly } = this.page.start;
    return emptyState(
      'debug-disconnect',
      'The hub is not running',
      readOnly
        ? 'It carries the messages between your agents. In an untrusted workspace it is not started by itself; messages are kept.'
        : 'It carries the messages between your agents. Nothing is lost while it is off.',
      html`<button type="button" class="button" ?disabled=${this.starting} @click=${() => this.startHub()}>
        ${this.starting ? 'Starting…' : 'Start the hub'}
      </button>`,
    );
  }

  private async startHub(): Promise<void> {
    this.starting = true;
    this.requestUpdate();
    await this.page.run(this.page.ask('start', {}), 'The hub is running');
    this.starting = false;
    this.requestUpdate();
  }

  private banners(): TemplateResult {
    const { page } = this;
    const { hub, paused, readOnly } = page.start;
    return html`${
      page.notice
        ? html`<div class="banner banner-error" role="alert">
            ${icon('error')}
            <div class="banner-text">${errorText(page.notice)}</div>
            ${iconButton('close', 'Dismiss', () => page.dismiss())}
          </div>`
        : nothing
    }
    ${
      page.ready && hub === 'lost'
        ? html`<div class="banner" role="status">
            ${icon('sync codicon-modifier-spin')}
            <div class="banner-text">Reconnecting to the hub…</div>
          </div>`
        : nothing
    }
    ${
      paused && hub === 'connected'
        ? html`<div class="banner banner-warning" role="status">
            ${icon('debug-pause')}
            <div class="banner-text">Paused: messages are kept, nobody is woken.</div>
            <button
              type="button"
              class="button button-small"
              ?disabled=${!page.canAct}
              @click=${() => void page.run(page.ask('pause', { on: false }), 'Resumed')}
            >
              Resume
            </button>
          </div>`
        : nothing
    }
    ${
      page.ready && readOnly && hub !== 'off'
        ? html`<div class="banner" role="status">
            ${icon('workspace-untrusted')}
            <div class="banner-text">Read only: trust this workspace to write and decide.</div>
          </div>`
        : nothing
    }`;
  }
}

customElements.define('ab-app', App);
