/** What a link in a message points to, decided from its text alone. */

export type LinkTarget =
  | { kind: 'web'; url: string }
  | { kind: 'file'; path: string; absolute: boolean; line?: number; column?: number }
  | { kind: 'refused'; why: string };

const refused = (why: string): LinkTarget => ({ kind: 'refused', why });

/**
 * Web addresses and files, nothing else: `command:` and `vscode:` would let a message run things, and a path on another
 * machine would send this user's credentials there.
 */
export function linkTarget(href: string): LinkTarget {
  const link = href.trim();
  if (/[\p{Cc}\u2028\u2029]/u.test(link)) return refused('it contains control characters');
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(link)?.[1]?.toLowerCase();
  if (scheme === 'http' || scheme === 'https') return webTarget(link);
  if (scheme === 'file') return fileUrlTarget(link);
  // `src/a.ts:12` and `a.ts:12` look like a scheme; a scheme is never followed by digits alone.
  if (scheme !== undefined && !/^[^:]+:\d+(:\d+)?$/.test(link)) return refused(`“${scheme}:” links are not opened`);
  return pathTarget(decoded(link));
}

function webTarget(link: string): LinkTarget {
  try {
    const url = new URL(link);
    if (url.username || url.password) return refused('its address contains a user name, which hides where it leads');
    return { kind: 'web', url: url.href };
  } catch {
    return refused('it is not a valid address');
  }
}

function fileUrlTarget(link: string): LinkTarget {
  try {
    const url = new URL(link);
    if (url.host !== '' && url.host !== 'localhost') return refused('it leads to another machine');
    const path = decoded(url.pathname).replace(/^\/([a-z]:)/i, '$1');
    return pathTarget(path + url.hash);
  } catch {
    return refused('it is not a valid address');
  }
}

function pathTarget(link: string): LinkTarget {
  const place = /^(.*?)(?:#L(\d{1,7})(?:-L?\d{1,7})?|:(\d{1,7})(?::(\d{1,7}))?)?$/su.exec(link);
  const path = place?.[1] ?? '';
  const line = place?.[2] ?? place?.[3];
  const column = place?.[4];
  if (path === '' || path.startsWith('#')) return refused('it names no file');
  if (path.includes('\0')) return refused('it contains control characters');
  if (/^[\\/]{2}/.test(path)) return refused('it leads to another machine');
  return {
    kind: 'file',
    path,
    absolute: /^(?:[\\/]|[a-z]:[\\/])/i.test(path),
    ...(line !== undefined && { line: Math.max(1, Number(line)) }),
    ...(column !== undefined && { column: Math.max(1, Number(column)) }),
  };
}

function decoded(link: string): string {
  try {
    return decodeURIComponent(link);
  } catch {
    return link;
  }
}
