const longEnough = 600;

/**
 * Which messages really stood in front of the person: in view, in a page that can be seen, for longer than it takes to
 * scroll past. A message taller than the view counts when its end, or half of the view, was there.
 */
export class SeenWatch {
  private readonly onSeen: (ids: string[]) => void;
  private readonly inView = new Map<string, number>();
  private readonly watched = new Set<HTMLElement>();
  private readonly observer: IntersectionObserver;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(root: HTMLElement, onSeen: (ids: string[]) => void) {
    this.onSeen = onSeen;
    this.observer = new IntersectionObserver((entries) => this.noted(entries), {
      root,
      threshold: [0, 0.25, 0.5, 0.75, 1],
    });
  }

  watch(elements: Iterable<HTMLElement>): void {
    const wanted = new Set(elements);
    for (const element of this.watched) {
      if (wanted.has(element)) continue;
      this.observer.unobserve(element);
      this.watched.delete(element);
      this.inView.delete(element.dataset['message'] ?? '');
    }
    for (const element of wanted) {
      if (this.watched.has(element)) continue;
      this.watched.add(element);
      this.observer.observe(element);
    }
  }

  stop(): void {
    clearTimeout(this.timer);
    this.observer.disconnect();
  }

  private noted(entries: IntersectionObserverEntry[]): void {
    const now = performance.now();
    for (const { target, isIntersecting, intersectionRatio, intersectionRect, rootBounds } of entries) {
      const id = (target as HTMLElement).dataset['message'];
      if (id === undefined) continue;
      const tall = rootBounds !== null && intersectionRect.height >= rootBounds.height / 2;
      if (!isIntersecting || (intersectionRatio < 0.5 && !tall)) this.inView.delete(id);
      else if (!this.inView.has(id)) this.inView.set(id, now);
    }
    this.arm();
  }

  private arm(): void {
    clearTimeout(this.timer);
    if (this.inView.size > 0) this.timer = setTimeout(() => this.check(), longEnough);
  }

  /** The person has come back to the page: time counts from now. */
  restart(): void {
    const now = performance.now();
    for (const id of this.inView.keys()) this.inView.set(id, now);
    this.arm();
  }

  private check(): void {
    if (document.visibilityState !== 'visible') return;
    const now = performance.now();
    const seen = [...this.inView].filter(([, since]) => now - since >= longEnough - 20).map(([id]) => id);
    for (const id of seen) this.inView.delete(id);
    if (seen.length > 0) this.onSeen(seen);
    this.arm();
  }
}
