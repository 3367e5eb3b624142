import type { Outlook } from '../core/outlook.ts';

/** What that comes to, in words: how it stands now and by which ways it would be offered, never that it will be seen. */
export function outlookText({ presence, reach, last_seen, held }: Outlook): string {
  const seen = last_seen ? `, last seen ${last_seen}` : '';
  const isAway = presence === 'offline' && reach.length === 1 && reach[0] === 'inbox';
  const ways = isAway ? 'hears of it when it is back' : `hears by: ${reach.join(', then ')}`;
  return `is ${presence}${seen}; ${ways}${held ? ` (not woken for it: ${held})` : ''}`;
}
