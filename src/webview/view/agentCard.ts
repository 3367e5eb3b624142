import { html, nothing, type TemplateResult } from 'lit';
import type { AgentView } from '../../core/model.ts';
import type { Page } from '../page.ts';
import { presenceWord } from '../text/words.ts';
import { icon, presenceDot, shownText } from './pieces.ts';
import { popover } from './popover.ts';
import './agentReach.ts';
import './tellIdle.ts';
import './timeAgo.ts';

/** An agent by name and presence; pointing at it, focus or a click opens its card. */
export function agentChip(page: Page, name: string, className = ''): TemplateResult {
  const agent = page.agents.get(name);
  const presence = agent?.presence ?? 'offline';
  const open = (event: Event, pin: boolean) => {
    const anchor = event.currentTarget as HTMLElement;
    openCard(page, anchor, name, pin);
  };
  return html`<button
    type="button"
    class="chip ${className} ${presence === 'offline' ? 'chip-offline' : ''}"
    aria-haspopup="dialog"
    aria-expanded="false"
    @click=${(event: Event) => open(event, true)}
    @pointerenter=${(event: PointerEvent) => {
      const anchor = event.currentTarget as HTMLElement;
      if (event.pointerType === 'mouse') popover.hover(anchor, () => openCard(page, anchor, name, false));
    }}
    @pointerleave=${() => popover.leave()}
  >
    ${presenceDot(presence, agent ? presenceWord(agent) : 'offline')}<span class="chip-name"
      >${name === page.me ? 'You' : name}</span
    >${
      agent && page.start.home === name
        ? html`<span class="chip-home" title="The agent of this window">${icon('home')}</span>`
        : nothing
    }
  </button>`;
}

function openCard(page: Page, anchor: HTMLElement, name: string, pin: boolean): void {
  const agent = page.agents.get(name);
  if (popover.isOpenFor(anchor) && !pin) return;
  popover.open(anchor, agent ? card(page, agent) : unknown(name), { label: `About ${name}`, pin });
}

function unknown(name: string): TemplateResult {
  return html`<div class="card">
    <div class="card-head"><strong>${name}</strong></div>
    <p class="card-about">Not on the bus any more.</p>
  </div>`;
}

function card(page: Page, agent: AgentView): TemplateResult {
  const direct = page.directWith(agent.name);
  const isMe = agent.name === page.me;
  const go = (action: () => void) => () => {
    popover.close();
    action();
  };
  return html`<div class="card">
    <div class="card-head">
      ${presenceDot(agent.presence)}<strong>${isMe ? `${agent.name} (you)` : agent.name}</strong>
      ${agent.open ? openMark() : nothing}
    </div>
    <p class="card-presence">
      ${capital(presenceWord(agent))}${agent.doing ? html`: <span>${shownText(agent.doing)}</span>` : nothing}
    </p>
    ${agent.about ? html`<p class="card-about" dir="auto">${shownText(agent.about)}</p>` : nothing}
    ${agent.skills && agent.skills.length > 0 ? skillList(agent.skills) : nothing}
    <dl class="facts">
      ${agent.address ? fact('Address', html`<span class="card-address">${shownText(agent.address)}</span>`) : nothing}
      ${agent.workspace ? fact('Workspace', shownText(agent.workspace)) : nothing}
      ${agent.product ? fact('Product', shownText(agent.product)) : nothing}
      ${agent.kind === 'person' ? fact('Hears by', shownText(agent.reach.join(', then '))) : nothing}
      ${agent.last_seen ? fact('Last seen', html`<ab-time .at=${agent.last_seen}></ab-time>`) : nothing}
    </dl>
    ${agent.kind === 'person' ? nothing : html`<ab-agent-reach .page=${page} .agent=${agent.name}></ab-agent-reach>`}
    ${
      isMe
        ? nothing
        : html`<div class="card-actions">
            <button
              type="button"
              class="button button-small"
              ?disabled=${!page.canAct}
              @click=${go(() => page.compose([agent.name]))}
            >
              Message
            </button>
            ${
              agent.kind === 'agent' && agent.address === undefined
                ? html`<ab-tell-idle .page=${page} .agent=${agent.name}></ab-tell-idle>`
                : nothing
            }
            ${
              direct && direct !== page.story.id
                ? html`<button
                    type="button"
                    class="button button-secondary button-small"
                    @click=${go(() => page.open(direct))}
                  >
                    Open conversation
                  </button>`
                : nothing
            }
          </div>`
    }
  </div>`;
}

/** Others may ask it from outside of the bus. */
function openMark(): TemplateResult {
  return html`<span class="card-mark" title="Others can ask it over A2A, with a token from you"
    >${icon('broadcast')} Open to A2A</span
  >`;
}

const skillsShown = 8;

function skillList(skills: readonly string[]): TemplateResult {
  const more = skills.length - skillsShown;
  return html`<ul class="skills" aria-label="Skills">
    ${skills.slice(0, skillsShown).map((skill) => html`<li class="skill" dir="auto">${shownText(skill)}</li>`)}
    ${more > 0 ? html`<li class="skill skill-more">and ${more} more</li>` : nothing}
  </ul>`;
}

function fact(name: string, value: unknown): TemplateResult {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
