/** Times as a person reads them, in local time. */
export function shortTime(iso: string, now = new Date()): string {
  const at = new Date(iso);
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === now.toDateString()) return clock;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock}`;
}

export function clockTime(at = new Date()): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
}

export function duration(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`;
}

const two = (n: number): string => String(n).padStart(2, '0');
