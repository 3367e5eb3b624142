import type { PageAnswer, PageEvent, PageMethod, PageRequest, PageRequests } from '../protocol/webviewMessages.ts';

export type Ask = <M extends PageMethod>(
  method: M,
  params: PageRequests[M]['params'],
) => Promise<PageRequests[M]['result']>;

/** What the extension answered instead of a result. The text stays with the person; `next` says what to do. */
export class PageError extends Error {
  readonly code: string;
  readonly next: string;

  constructor(code: string, message: string, next: string) {
    super(message);
    this.name = 'PageError';
    this.code = code;
    this.next = next;
  }

  static from(error: unknown): PageError {
    if (error instanceof PageError) return error;
    const message = error instanceof Error ? error.message : String(error);
    return new PageError('internal', message, 'Try again; if it stays, reload the window.');
  }
}

/** A person may take a while to answer a dialog, and a hub to start. */
const unhurried: ReadonlySet<PageMethod> = new Set(['open', 'exportSvg', 'start', 'release']);

interface Pending {
  resolve(result: unknown): void;
  reject(error: PageError): void;
  timer?: ReturnType<typeof setTimeout>;
}

/** The page's only door: numbered requests out, their answers and the extension's events in. */
export class PageApi {
  /** Set once, by whoever owns the page's state. */
  onEvent: (event: PageEvent) => void = () => undefined;
  private readonly post: (request: PageRequest) => void;
  private readonly patience: number;
  private readonly pending = new Map<number, Pending>();
  private count = 0;

  constructor(post: (request: PageRequest) => void, patience = 60_000) {
    this.post = post;
    this.patience = patience;
  }

  readonly ask: Ask = <M extends PageMethod>(method: M, params: PageRequests[M]['params']) =>
    new Promise<PageRequests[M]['result']>((resolve, reject) => {
      const request = ++this.count;
      const pending: Pending = { resolve, reject };
      if (!unhurried.has(method)) {
        pending.timer = setTimeout(() => {
          if (!this.pending.delete(request)) return;
          reject(new PageError('no-answer', 'The extension did not answer.', 'Try again.'));
        }, this.patience);
      }
      this.pending.set(request, pending);
      this.post({ request, method, params });
    });

  receive(data: unknown): void {
    if (typeof data !== 'object' || data === null) return;
    if ('request' in data) this.settle(data as PageAnswer);
    else if ('type' in data) this.onEvent(data as PageEvent);
  }

  private settle(answer: PageAnswer): void {
    const pending = this.pending.get(answer.request);
    if (!pending) return;
    this.pending.delete(answer.request);
    clearTimeout(pending.timer);
    if ('error' in answer) {
      const { code, message, next } = answer.error;
      pending.reject(new PageError(code, message, next));
    } else pending.resolve(answer.result);
  }
}
