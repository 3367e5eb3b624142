/** The small parts that many views share. */
import { html, nothing, svg, type TemplateResult } from 'lit';
import type { ConversationKind, Presence } from '../../core/model.ts';
import type { ErrorShape } from '../stores/errorShape.ts';
import { pieces } from '../text/invisible.ts';
import { clock, fullTime } from '../text/time.ts';
import { colourOf, initials, type Tick } from '../text/words.ts';

export const lang = (): string => document.documentElement.lang;

export function icon(name: string): TemplateResult {
  return html`<span class="codicon codicon-${name}" aria-hidden="true"></span>`;
}

/** A button that is only an icon; its label is also its title. */
export function iconButton(
  name: string,
  label: string,
  onClick: (event: MouseEvent) => void,
  more: { pressed?: boolean; disabled?: boolean; className?: string; title?: string } = {},
): TemplateResult {
  return html`<button
    type="button"
    class="icon-button ${more.className ?? ''}"
    aria-label=${label}
    title=${more.title ?? label}
    aria-pressed=${more.pressed === undefined ? nothing : more.pressed}
    ?disabled=${more.disabled ?? false}
    @click=${onClick}
  >
    ${icon(name)}
  </button>`;
}

// Told apart by shape as well as by colour: full, ring, diamond, bar.
const presenceShapes: Record<Presence, TemplateResult> = {
  working: svg`<circle cx="5" cy="5" r="4" fill="currentColor" />`,
  idle: svg`<circle cx="5" cy="5" r="3.2" fill="none" stroke="currentColor" stroke-width="1.6" />`,
  waiting: svg`<path d="M5 .4 9.6 5 5 9.6 .4 5z" fill="currentColor" />`,
  offline: svg`<path d="M1.5 5h7" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" />`,
};

/** With `spoken` it has a title and is read aloud. */
export function presenceDot(presence: Presence, spoken?: string): TemplateResult {
  return html`<span class="dot dot-${presence}" title=${spoken ?? nothing}
    ><svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">${presenceShapes[presence]}</svg>${
      spoken === undefined ? nothing : html`<span class="hidden-text">${spoken}</span>`
    }</span
  >`;
}

const firstTick = svg`<path d="M1 6.5 4 9.5 10 2.5" />`;
const tickShapes: Record<Tick, TemplateResult> = {
  stored: firstTick,
  offered: svg`${firstTick}<path class="tick-hollow" d="M7.5 9.2 8 9.5 14 2.5" />`,
  shown: svg`${firstTick}<path d="M7.5 9 8 9.5 14 2.5" />`,
  done: svg`<circle class="tick-full" cx="8" cy="6" r="5.5" /><path class="tick-inner" d="M5.4 6.2 7.3 8 10.7 4.2" />`,
  trouble: svg`<path d="M8 1 14 11.3H2z" /><path d="M8 4.8v3M8 9.3v.6" />`,
  ended: svg`<circle cx="8" cy="6" r="5" /><path d="M4.6 9.4 11.4 2.6" />`,
};

export function tickMark(tick: Tick): TemplateResult {
  return html`<svg class="tick tick-${tick}" viewBox="0 0 16 12" width="16" height="12" aria-hidden="true">
    ${tickShapes[tick]}
  </svg>`;
}

export function avatar(name: string, size: 'small' | 'large' = 'small'): TemplateResult {
  return html`<span class="avatar avatar-${size} tint-${colourOf(name)}" aria-hidden="true">${initials(name)}</span>`;
}

/** Of the bus itself, which is no agent. */
export function busAvatar(size: 'small' | 'large' = 'small'): TemplateResult {
  return html`<span class="avatar avatar-${size} avatar-plain" aria-hidden="true">${icon('broadcast')}</span>`;
}

export function conversationAvatar(kind: ConversationKind, title: string, between: boolean): TemplateResult {
  if (kind === 'direct' && !between) return avatar(title, 'large');
  const sign = kind === 'channel' ? '#' : icon(kind === 'group' ? 'organization' : 'arrow-swap');
  return html`<span class="avatar avatar-large avatar-plain" aria-hidden="true">${sign}</span>`;
}

export function clockTime(iso: string): TemplateResult {
  const at = Date.parse(iso);
  return html`<time datetime=${iso} title=${fullTime(at, lang())}>${clock(at, lang())}</time>`;
}

/** Text of others in one line, with marks for what could not be seen. */
export function shownText(text: string): (string | TemplateResult)[] {
  return pieces(text).map((piece) =>
    typeof piece === 'string' ? piece : html`<span class="hidden-mark" title=${piece.title}>${piece.label}</span>`,
  );
}

export function errorText({ code, message, next }: ErrorShape): TemplateResult {
  return html`<span class="error-text"
    ><strong>${message}</strong> ${next} <span class="code-name">${code}</span></span
  >`;
}

export function emptyState(
  sign: string,
  title: string,
  text: string | TemplateResult,
  action?: TemplateResult,
): TemplateResult {
  return html`<div class="empty">
    <div class="empty-icon">${icon(sign)}</div>
    <p class="empty-title">${title}</p>
    <p class="empty-text">${text}</p>
    ${action ?? nothing}
  </div>`;
}
