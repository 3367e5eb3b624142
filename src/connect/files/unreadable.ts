/** A file that can't be taken apart, or has something else where ours would go: it is not touched. */
export class Unreadable extends Error {
  readonly line: number | undefined;

  constructor(why: string, line?: number) {
    super(why);
    this.name = 'Unreadable';
    this.line = line;
  }
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
