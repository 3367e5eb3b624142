/** What a terminal shows at one moment, cell by cell. */
export interface Screen {
  rows: readonly Row[];
  cursor: { x: number; y: number };
}

export type Row = readonly Cell[];

export interface Cell {
  /** Empty behind a character of double width. */
  text: string;
  dim: boolean;
  inverse: boolean;
  /** Two cells of one colour have the same; undefined is the terminal's own. */
  color: string | undefined;
}

export function textOf(row: Row | undefined, from = 0): string {
  return (row ?? [])
    .slice(from)
    .map(({ text }) => text)
    .join('');
}
