/** What real products wrote to a terminal, as recordScreens.ts has recorded it. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Size } from '../../../src/extension/window/terminals/emulator.ts';

export interface Recording {
  size: Size;
  scenes: Scene[];
}

export interface Scene {
  name: string;
  /** What stands in the prompt, where the product waits for one; absent where nothing may be typed, whatever is there. */
  typed?: string;
  /** What was written since the scene before. */
  data: string;
}

export const screensFolder = join(import.meta.dirname, '..', '..', 'unit', 'screens');

/** @param name the product, as the bus calls it, or that and `-small` */
export function readRecording(name: string): Recording {
  return JSON.parse(gunzipSync(fs.readFileSync(join(screensFolder, `${name}.json.gz`))).toString()) as Recording;
}
