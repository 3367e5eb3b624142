import { html, type TemplateResult } from 'lit';
import { newMessage } from '../stores/drafts.ts';
import './composer.ts';
import { LightElement } from './lightElement.ts';
import { iconButton } from './pieces.ts';

/** A message to somebody with whom there may be no conversation yet. */
class ComposeScreen extends LightElement {
  protected override render(): TemplateResult {
    const { page } = this;
    return html`<div
      class="compose"
      @keydown=${(event: KeyboardEvent) => {
        if (event.key === 'Escape' && !event.defaultPrevented) page.goInbox();
      }}
    >
      <header class="head">
        ${iconButton('arrow-left', 'Back', () => page.goInbox())}
        <h1 class="head-title">New message</h1>
      </header>
      <ab-composer .page=${page} .place=${newMessage}></ab-composer>
    </div>`;
  }
}

customElements.define('ab-compose-screen', ComposeScreen);
