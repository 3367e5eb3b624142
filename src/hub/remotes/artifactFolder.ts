import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../core/limits.ts';
import { messageId } from '../../core/model.ts';
import type { Reads } from '../../core/ports.ts';
import { cut } from '../../core/text.ts';
import { parseJson } from '../../protocol/depth.ts';
import type { Keep, Speech } from '../../transports/a2a/remoteParts.ts';
import { ensurePrivateFolder, writePrivateFileAtomic } from '../privateFolder.ts';

export interface Fitting {
  text: string;
  data: unknown;
  files: string[];
}

/** Leaves room for what is around the data on its way to a reader. */
const dataDepth = limits.jsonDepth - 14;
const excerptLength = 20_000;

/** What agents elsewhere have made and no message can hold: files of our own, for as long as the message is kept. */
export class ArtifactFolder {
  private readonly path: string;
  private readonly store: Reads;

  constructor(home: string, store: Reads) {
    this.path = join(home, 'artifacts');
    this.store = store;
  }

  /**
   * What was said, so that it fits into a message; what does not is put into files. `key` names the saying: said again, it
   * makes the same files again.
   */
  fit(seq: number, key: string, speak: (keep: Keep) => Speech): Fitting {
    const files: string[] = [];
    const start = `${messageId.format(seq)}-${createHash('sha256').update(key).digest('hex').slice(0, 8)}`;
    const put = (content: string | Uint8Array, name: string): string => {
      ensurePrivateFolder(this.path);
      const path = join(this.path, `${start}-${files.length + 1}-${harmless(name)}`);
      writePrivateFileAtomic(path, content);
      files.push(path);
      return path;
    };
    // Two places are kept for the text and the data.
    const { text, a2a } = speak((bytes, name) => (files.length < limits.files - 2 ? put(bytes, name) : undefined));
    return { text: this.fitText(text, put), data: { a2a: this.fitData(a2a, put) }, files };
  }

  /** Forgets the files of messages that were forgotten. */
  sweep(): void {
    if (!existsSync(this.path)) return;
    for (const name of readdirSync(this.path)) {
      const seq = messageId.parse(name.split('-', 1)[0] ?? '');
      if (seq !== undefined && !this.store.message(seq)) rmSync(join(this.path, name), { force: true });
    }
  }

  private fitText(text: string, put: (content: string, name: string) => string): string {
    if (Buffer.byteLength(text) <= limits.textBytes) return text;
    const path = put(text, 'answer.md');
    return `${cut(text, excerptLength)}\n\n(This is the beginning; all ${Buffer.byteLength(text)} bytes are in ${path}.)`;
  }

  private fitData(a2a: Record<string, unknown>, put: (content: string, name: string) => string): unknown {
    const json = JSON.stringify({ a2a });
    if (Buffer.byteLength(json) <= limits.textBytes && isShallow(json)) return a2a;
    const { task, context } = a2a;
    return {
      ...(task !== undefined && { task }),
      ...(context !== undefined && { context }),
      file: put(json, 'data.json'),
    };
  }
}

function isShallow(json: string): boolean {
  try {
    parseJson(json, dataDepth);
    return true;
  } catch {
    return false;
  }
}

/** A name that somebody else chose, as the end of a file's name. */
function harmless(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? '';
  return (
    last
      .replace(/[^A-Za-z0-9._-]+/g, '_')
      .replace(/^\.+/, '')
      .slice(-60) || 'part'
  );
}
