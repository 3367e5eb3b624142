import { render, type TemplateResult } from 'lit';

/**
 * The one thing that floats over the page: cards, receipts, menus. The browser keeps it on top, closes it on Escape or a
 * click elsewhere, and gives the focus back.
 */
class Popover {
  private readonly box = document.createElement('div');
  private anchor: HTMLElement | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pinned = false;

  constructor() {
    this.box.popover = 'auto';
    this.box.className = 'popover';
    this.box.addEventListener('toggle', (event) => {
      // Told late: by then it may be open again, for another.
      if (event.newState === 'open' || this.box.matches(':popover-open')) return;
      this.anchor?.setAttribute('aria-expanded', 'false');
      this.anchor = undefined;
      this.pinned = false;
      render('', this.box);
    });
    this.box.addEventListener('pointerenter', () => clearTimeout(this.timer));
    this.box.addEventListener('pointerleave', () => this.leave());
    this.box.addEventListener('keydown', (event) => this.arrows(event));
    addEventListener('resize', () => this.close());
  }

  isOpenFor(anchor: HTMLElement): boolean {
    return this.anchor === anchor;
  }

  /** @param pin keeps it when the pointer goes, and moves the keyboard into it. */
  open(
    anchor: HTMLElement,
    content: TemplateResult,
    { label, role = 'dialog', pin = false }: { label: string; role?: 'dialog' | 'menu'; pin?: boolean },
  ): void {
    clearTimeout(this.timer);
    // Within the main part of the page, where a screen reader looks for content.
    if (!this.box.isConnected) (document.querySelector('main') ?? document.body).append(this.box);
    if (this.anchor && this.anchor !== anchor) this.close();
    this.anchor = anchor;
    this.pinned = pin;
    this.box.setAttribute('role', role);
    this.box.setAttribute('aria-label', label);
    anchor.setAttribute('aria-expanded', 'true');
    this.fill(content);
    this.box.showPopover();
    this.place();
    if (pin) this.focusables()[0]?.focus();
  }

  /** What is in it changed, for instance because an answer has come. */
  update(anchor: HTMLElement, content: TemplateResult): void {
    if (this.anchor !== anchor) return;
    this.fill(content);
    this.place();
  }

  /** What is in it has grown or shrunk by itself. */
  settle(): void {
    if (this.anchor) this.place();
  }

  close(): void {
    clearTimeout(this.timer);
    if (this.box.matches(':popover-open')) this.box.hidePopover();
  }

  /** After a moment, so that passing by opens nothing. */
  hover(anchor: HTMLElement, open: () => void): void {
    clearTimeout(this.timer);
    if (this.anchor === anchor) return;
    this.timer = setTimeout(() => anchor.isConnected && open(), 350);
  }

  leave(): void {
    clearTimeout(this.timer);
    if (this.pinned) return;
    this.timer = setTimeout(() => this.close(), 200);
  }

  private fill(content: TemplateResult): void {
    render(content, this.box);
  }

  private place(): void {
    if (!this.anchor) return;
    const edge = 8;
    const at = this.anchor.getBoundingClientRect();
    const { style } = this.box;
    style.maxHeight = `${innerHeight - 2 * edge}px`;
    const { width, height } = this.box.getBoundingClientRect();
    const below = at.bottom + 4 + height <= innerHeight - edge || at.top < height;
    const top = below ? Math.min(at.bottom + 4, innerHeight - height - edge) : at.top - height - 4;
    style.top = `${Math.max(edge, top)}px`;
    style.left = `${Math.max(edge, Math.min(at.left, innerWidth - width - edge))}px`;
  }

  private focusables(): HTMLElement[] {
    return [
      ...this.box.querySelectorAll<HTMLElement>(
        'button:not([disabled]), input:not([disabled]), a[tabindex], [role=menuitem]',
      ),
    ];
  }

  private arrows(event: KeyboardEvent): void {
    const all = this.focusables();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) all[(at + step + all.length) % all.length]?.focus();
    else if (event.key === 'Home') all[0]?.focus();
    else if (event.key === 'End') all.at(-1)?.focus();
    else if (event.key === 'Tab' && this.box.getAttribute('role') === 'menu') this.close();
    else return;
    event.preventDefault();
  }
}

export const popover = new Popover();
