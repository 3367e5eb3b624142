import xterm from '@xterm/headless';
import type { Cell, Row, Screen } from './screen.ts';

export interface Size {
  cols: number;
  rows: number;
}

/** As much as a screen that grows may take back. */
const scrollback = 200;

/** A terminal without a window: it is told what the real one is told, and so shows what that one shows. */
export class Emulator {
  private readonly terminal: xterm.Terminal;

  constructor(size: Size) {
    this.terminal = new xterm.Terminal({ ...size, scrollback, allowProposedApi: true });
  }

  write(data: string): void {
    this.terminal.write(data);
  }

  resize({ cols, rows }: Size): void {
    if (cols !== this.terminal.cols || rows !== this.terminal.rows) this.terminal.resize(cols, rows);
  }

  /** After everything that was written so far. */
  async screen(): Promise<Screen> {
    await new Promise<void>((resolve) => this.terminal.write('', resolve));
    const { active } = this.terminal.buffer;
    const rows = Array.from({ length: this.terminal.rows }, (_, y) => rowOf(active.getLine(active.baseY + y)));
    return { rows, cursor: { x: active.cursorX, y: active.cursorY } };
  }

  dispose(): void {
    this.terminal.dispose();
  }
}

function rowOf(line: xterm.IBufferLine | undefined): Row {
  if (!line) return [];
  return Array.from({ length: line.length }, (_, x) => cellOf(line.getCell(x)));
}

function cellOf(cell: xterm.IBufferCell | undefined): Cell {
  if (!cell) return { text: ' ', dim: false, inverse: false, color: undefined };
  return {
    text: cell.getWidth() === 0 ? '' : cell.getChars() || ' ',
    dim: cell.isDim() !== 0,
    inverse: cell.isInverse() !== 0,
    color: cell.isFgDefault() ? undefined : `${cell.getFgColorMode()} ${cell.getFgColor()}`,
  };
}
