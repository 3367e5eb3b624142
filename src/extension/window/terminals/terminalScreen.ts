import type { Emulator, Size } from './emulator.ts';
import type { Screen } from './screen.ts';

export interface TerminalScreenParts {
  /** How big the terminal is at this moment, where that can be known. */
  size: () => Size | undefined;
  newEmulator: (size: Size) => Promise<Emulator>;
  /** Whether the command names a product; of others only the beginning is kept, should one of them turn out to be one. */
  isProduct: boolean;
}

/** Enough for a product that was started by another name, little enough for a log that runs for days. */
const keptAtMost = 512 * 1024;

/**
 * What one program shows in a terminal, from its beginning to its end. What it prints is kept as it came until somebody
 * wants to see the screen: most programs are no agents.
 */
export class TerminalScreen {
  private readonly parts: TerminalScreenParts;
  private kept: { data: string; size: Size | undefined }[] = [];
  private keptLength = 0;
  private emulator: Promise<Emulator> | undefined;
  private lost = false;
  private closed = false;

  constructor(parts: TerminalScreenParts) {
    this.parts = parts;
  }

  add(data: string): void {
    if (this.lost || this.closed) return;
    const size = this.parts.size();
    if (this.emulator) {
      void this.emulator.then((emulator) => draw(emulator, { data, size }));
      return;
    }
    this.kept.push({ data, size });
    this.keptLength += data.length;
    if (this.parts.isProduct) void this.begin()?.catch(() => undefined);
    else if (this.keptLength > keptAtMost) this.forget();
  }

  /** Nothing, where it can't be known. */
  async screen(): Promise<Screen | undefined> {
    const emulator = await this.begin();
    if (!emulator || this.closed) return undefined;
    const size = this.parts.size();
    if (!size) return undefined;
    emulator.resize(size);
    return emulator.screen();
  }

  close(): void {
    this.closed = true;
    this.kept = [];
    void this.emulator?.then(
      (emulator) => emulator.dispose(),
      () => undefined,
    );
  }

  private begin(): Promise<Emulator> | undefined {
    if (this.emulator || this.lost) return this.emulator;
    const size = this.kept.find((piece) => piece.size !== undefined)?.size;
    if (!size) return undefined;
    this.emulator = this.parts.newEmulator(size).then((emulator) => {
      for (const piece of this.kept.splice(0)) draw(emulator, piece);
      return emulator;
    });
    return this.emulator;
  }

  private forget(): void {
    this.lost = true;
    this.kept = [];
  }
}

function draw(emulator: Emulator, { data, size }: { data: string; size: Size | undefined }): void {
  if (size) emulator.resize(size);
  emulator.write(data);
}
