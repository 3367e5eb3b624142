import { html, nothing } from 'lit';
import { icon } from './pieces.ts';
import { popover } from './popover.ts';

export interface MenuItem {
  icon: string;
  label: string;
  run(): void;
  /** A line above it. */
  apart?: boolean;
}

export function openMenu(anchor: HTMLElement, label: string, items: readonly MenuItem[]): void {
  const choose = (item: MenuItem) => {
    popover.close();
    item.run();
  };
  popover.open(
    anchor,
    html`<div class="menu">
      ${items.map(
        (item) =>
          html`${item.apart ? html`<div class="menu-line" role="separator"></div>` : nothing}<button
              type="button"
              class="menu-item"
              role="menuitem"
              tabindex="-1"
              @click=${() => choose(item)}
            >
              ${icon(item.icon)}<span>${item.label}</span>
            </button>`,
      )}
    </div>`,
    { label, role: 'menu', pin: true },
  );
}
