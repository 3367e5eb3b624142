/** Times as a person reads them, in the language of the editor. */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const formatters = new Map<string, Intl.DateTimeFormat>();

function format(lang: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${lang} ${JSON.stringify(options)}`;
  let made = formatters.get(key);
  if (!made) {
    try {
      made = new Intl.DateTimeFormat(lang || undefined, options);
    } catch {
      made = new Intl.DateTimeFormat(undefined, options);
    }
    formatters.set(key, made);
  }
  return made;
}

const startOfDay = (at: number) => new Date(at).setHours(0, 0, 0, 0);

/** Whole calendar days between two moments, summer time or not. */
export function daysBetween(earlier: number, later: number): number {
  return Math.round((startOfDay(later) - startOfDay(earlier)) / day);
}

/** As short as a list needs it: now, 5 min, 14:02, Tue, 12 Mar, 12/03/2024. */
export function shortTime(at: number, now: number, lang: string): string {
  const ago = now - at;
  const days = daysBetween(at, now);
  if (ago < minute && ago > -minute) return 'now';
  if (ago > 0 && ago < hour) return `${Math.floor(ago / minute)} min`;
  if (days === 0) return clock(at, lang);
  if (days > 0 && days < 7) return format(lang, { weekday: 'short' }).format(at);
  if (new Date(at).getFullYear() === new Date(now).getFullYear()) {
    return format(lang, { day: 'numeric', month: 'short' }).format(at);
  }
  return format(lang, { dateStyle: 'short' }).format(at);
}

export function clock(at: number, lang: string): string {
  return format(lang, { hour: 'numeric', minute: '2-digit' }).format(at);
}

export function fullTime(at: number, lang: string): string {
  return format(lang, { dateStyle: 'full', timeStyle: 'medium' }).format(at);
}

/** The heading over the messages of one day. */
export function dayName(at: number, now: number, lang: string): string {
  const days = daysBetween(at, now);
  if (days === 0 || days === 1) {
    const word = new Intl.RelativeTimeFormat(lang || undefined, { numeric: 'auto' }).format(-days, 'day');
    return word.charAt(0).toLocaleUpperCase(lang || undefined) + word.slice(1);
  }
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return format(lang, { weekday: 'long', day: 'numeric', month: 'long', ...(!sameYear && { year: 'numeric' }) }).format(
    at,
  );
}

/** How long something took or takes: 4 s, 12 min, 1 h 5 min, 3 d 2 h. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return minutes < 5 && seconds % 60 > 0 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 > 0 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  const days = Math.floor(hours / 24);
  return hours % 24 > 0 ? `${days} d ${hours % 24} h` : `${days} d`;
}

/** A duration that is counted while one looks: no finer than what one would want to see move. */
export function waitingTime(ms: number): string {
  return ms < minute ? 'less than a minute' : duration(Math.floor(ms / minute) * minute);
}
