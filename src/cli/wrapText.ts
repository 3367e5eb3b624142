/** The narrowest terminal that people use. */
export const screenWidth = 80;

/** Lines of at most `width` characters, broken between words; a word that is longer stays whole. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** A paragraph that hangs: the first line after `head`, the others below its text. */
export function hanging(head: string, text: string, width = screenWidth): string[] {
  return wrapText(text, width - head.length).map((line, i) => (i === 0 ? head : ' '.repeat(head.length)) + line);
}

/** A row of cells, each as wide as its column; what does not fit goes on below. Of width 0, one takes what it needs. */
export function tableRow(cells: readonly string[], widths: readonly number[]): string[] {
  const columns = cells.map((cell, i) => wrapText(cell, (widths[i] || screenWidth) - 1));
  const height = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, y) =>
    columns
      .map((lines, i) => (lines[y] ?? '').padEnd(widths[i] ?? 0))
      .join('')
      .trimEnd(),
  );
}
