/** What a page may ask for, and what each request must look like. */
import { limits } from '../../core/limits.ts';
import type { PageMethod, PageRequests } from '../../protocol/webviewMessages.ts';
import { fields, flag, list, matching, maybe, oneOf, text, wholeNumber, type Guard } from './params.ts';

export const messageIdForm = matching(/^m[0-9a-z]{1,10}$/);
export const conversationIdForm = matching(/^c[0-9a-z]{1,10}$/);
const recipient = text(limits.nameLength + 1, 1);
/** Links and places to continue from are short; a picture is not. */
const linkLength = 4_096;
export const pictureLength = 8 * 1024 * 1024;
/** A hundred drafts, one of them as long as a message may be. */
const stateLength = 4 * 1024 * 1024;

const nothing = fields({});
const oneMessage = fields({ id: messageIdForm });

export const paramsOf: { [M in PageMethod]: Guard<PageRequests[M]['params']> } = {
  hello: nothing,
  keep: fields({ state: text(stateLength) }),
  start: nothing,
  overview: fields({
    filter: oneOf('all', 'unread', 'waiting'),
    cursor: maybe(text(200)),
    limit: wholeNumber(1, 500),
  }),
  search: fields({ query: text(200, 1), cursor: maybe(text(200)) }),
  agents: nothing,
  reach: fields({ agent: recipient }),
  typing: fields({ agent: recipient, on: flag }),
  tell: fields({ agent: recipient, on: maybe(flag) }),
  story: fields({
    conversation: conversationIdForm,
    before: maybe(messageIdForm),
    after: maybe(messageIdForm),
    around: maybe(messageIdForm),
    limit: wholeNumber(1, 200),
  }),
  message: oneMessage,
  status: oneMessage,
  send: fields({
    to: maybe(list(recipient, limits.recipients)),
    reply_to: maybe(messageIdForm),
    text: text(limits.textBytes, 1),
    kind: oneOf('request', 'inform', 'reply'),
    priority: maybe(oneOf('normal', 'urgent')),
    options: maybe(list(text(limits.optionLength, 1), limits.options)),
    key: text(limits.keyLength, 1),
  }),
  seen: fields({ ids: list(messageIdForm, 1_000) }),
  unread: oneMessage,
  ack: fields({
    id: messageIdForm,
    outcome: oneOf('done', 'blocked', 'rejected'),
    note: maybe(text(limits.noteLength)),
  }),
  cancel: oneMessage,
  release: fields({ id: messageIdForm, verdict: oneOf('once', 'always', 'never') }),
  pause: fields({ on: flag }),
  copy: fields({ text: text(limits.textBytes) }),
  open: fields({ href: text(linkLength, 1), message: messageIdForm }),
  openTab: fields({ conversation: conversationIdForm }),
  exportSvg: fields({ svg: text(pictureLength, 1), name: text(200) }),
};

/** These change something for others; a workspace that is not trusted does none of them. */
export const deciding: ReadonlySet<PageMethod> = new Set<PageMethod>([
  'start',
  'send',
  'unread',
  'ack',
  'cancel',
  'release',
  'pause',
  'typing',
]);

export function isPageMethod(name: unknown): name is PageMethod {
  return typeof name === 'string' && Object.hasOwn(paramsOf, name);
}
