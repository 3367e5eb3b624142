import type { Draft } from '../../protocol/webviewMessages.ts';
import type { Priority } from '../../core/model.ts';
import type { PageState } from './pageState.ts';

/** A message that is being written. */
export interface SavedDraft {
  text: string;
  to: string[];
  asks: boolean;
  urgent: boolean;
  options: string[];
  reply?: { id: string; from: string; line: string };
  /** The key under which it was last tried, and what was tried: the same content again must not become a second message. */
  tried?: { key: string; content: string };
}

export const emptyDraft: Readonly<SavedDraft> = { text: '', to: [], asks: false, urgent: false, options: [] };

/** The name of the draft for a message to nobody yet. */
export const newMessage = 'new';

const mostDrafts = 100;

/** One draft per conversation, over reloads. */
export class Drafts {
  private readonly saved: PageState;

  constructor(saved: PageState) {
    this.saved = saved;
  }

  get(place: string): SavedDraft {
    return { ...emptyDraft, ...this.saved.value.drafts?.[place] };
  }

  has(place: string): boolean {
    return this.saved.value.drafts?.[place] !== undefined;
  }

  set(place: string, draft: SavedDraft): void {
    const others = Object.entries(this.saved.value.drafts ?? {}).filter(([name]) => name !== place);
    if (!isEmpty(draft)) others.push([place, draft]);
    this.saved.set({ drafts: Object.fromEntries(others.slice(-mostDrafts)) });
  }

  clear(place: string): void {
    this.set(place, { ...emptyDraft });
    this.saved.flush();
  }
}

function isEmpty({ text, to, options, reply, asks, urgent }: SavedDraft): boolean {
  return text === '' && to.length === 0 && options.length === 0 && !reply && !asks && !urgent;
}

/**
 * What is sent for a draft. The key stays the same while the content does, so that a repeated send after a lost answer
 * makes no second message, and an edited one is not taken for the first.
 */
export function toSend(draft: SavedDraft, to: string[], newKey: () => string): Draft {
  const options = draft.options.map((option) => option.trim()).filter((option) => option !== '');
  const priority: Priority = draft.urgent ? 'urgent' : 'normal';
  const content: Omit<Draft, 'key'> = {
    ...(draft.reply ? { reply_to: draft.reply.id } : { to }),
    text: draft.text,
    kind: draft.asks ? 'request' : draft.reply ? 'reply' : 'inform',
    priority,
    ...(draft.asks && options.length > 0 && { options }),
  };
  const fingerprint = JSON.stringify(content);
  return { ...content, key: draft.tried?.content === fingerprint ? draft.tried.key : newKey() };
}

export function contentOf({ key: _key, ...content }: Draft): string {
  return JSON.stringify(content);
}
