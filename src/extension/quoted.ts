// Controls but tab and newline, lone surrogates, and what is drawn as nothing or turns the direction of the text.
const hidden = /[\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]|(?![\t\n])\p{Cc}/gu;

/** Somebody else's text as a Markdown block in which nothing is a link, a picture, a command or the end of the block. */
export function quotedBlock(text: string, most = 8_000): string {
  const shown = text.slice(0, most).replace(/\r\n?/g, '\n').replace(hidden, '');
  const ticks = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length)) + 1;
  const fence = '`'.repeat(ticks);
  const rest = text.length > most ? `\n\n*… and ${text.length - most} characters more, in the inbox.*` : '';
  return `${fence}text\n${shown}\n${fence}${rest}`;
}

/** Somebody else's words inside a line of Markdown. */
export function escaped(text: string): string {
  return text
    .replace(hidden, '')
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_{}[\]()#+\-.!|<>~&:@$]/g, '\\$&');
}
