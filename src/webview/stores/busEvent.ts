import type { PageEvent } from '../../protocol/webviewMessages.ts';

/** Something that happened on the bus, as the extension tells it. */
export type BusEvent = Extract<PageEvent, { type: 'events' }>['events'][number];
