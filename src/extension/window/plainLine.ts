// Controls, invisible and direction-changing characters.
const hidden = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]+/gu;

/** Somebody else's text for a notification: one short line in which nothing is a link, a command or a closing quote. */
export function plainLine(text: string, most = 120): string {
  const line = text
    .slice(0, most * 8)
    .replace(hidden, ' ')
    .replace(/\s+/g, ' ')
    .replace(/[[\]]/g, (bracket) => (bracket === '[' ? '(' : ')'))
    .replace(/["“”«»„‟]/g, "'")
    .replace(/\$\(/g, '$ (')
    .trim();
  const characters = [...line];
  return characters.length <= most
    ? line
    : `${characters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`;
}

/** The folder's or workspace file's own name. */
export function placeName(workspace: string | undefined): string | undefined {
  const last = workspace?.split(/[\\/]/).findLast((part) => part !== '');
  return last === undefined ? undefined : plainLine(last.replace(/\.code-workspace$/, ''), 60);
}
