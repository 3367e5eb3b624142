/**
 * Tells whether SQLite's log (the -wal file) has lost acknowledged data, before SQLite opens it: recovery silently
 * stops at the first bad frame and forgets everything behind it (https://sqlite.org/fileformat2.html#walformat).
 *
 * A torn tail is normal. With synchronous=FULL each commit is on disk before the next transaction writes its first
 * frame, so a crash can tear the last transaction only, and nobody was told that it succeeded. What proves damage is a
 * bad frame with a commit at or behind it that something was written after. Frames of earlier rounds of the log have
 * other salts, and frames of a rolled-back transaction have no commit: neither proves anything.
 */
import * as fs from 'node:fs';

export interface WalScan {
  /** Frames that recovery will accept, and how many of them it will apply, up to the last commit. */
  frames: number;
  committedFrames: number;
  /** There if acknowledged data is lost: the first bad frame (from 0; -1 is the file's header), the commits behind it. */
  damage?: { atFrame: number; lostCommits: number };
}

interface Sum {
  a: number;
  b: number;
}

/** What the header says about the frames, or would have said. */
interface Shape {
  pageSize: number;
  littleEndian: boolean;
  salts: [number, number];
  /** The checksum that the first frame continues. */
  seed: Sum;
}

interface Frame {
  page: number;
  /** Pages in the database after a commit, 0 in any other frame. */
  commit: number;
  salts: [number, number];
  stored: Sum;
  /** The checksum of this frame if the one before it ended with `before`. */
  sumFrom(before: Sum, commit?: number): Sum;
}

const headerBytes = 32;
const frameHeaderBytes = 24;
const chunkBytes = 4 * 1024 * 1024;

export function scanWal(path: string): WalScan {
  let file: number;
  try {
    file = fs.openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { frames: 0, committedFrames: 0 };
    throw error;
  }
  try {
    const size = fs.fstatSync(file).size;
    // The header is on disk before the first frame is written: a file that ends earlier never held anything.
    if (size <= headerBytes) return { frames: 0, committedFrames: 0 };
    const header = readAt(file, 0, headerBytes);
    const shape = readHeader(header);
    return shape ? scanFrames(file, size, shape) : scanHeadless(file, size, header);
  } finally {
    fs.closeSync(file);
  }
}

function scanFrames(file: number, size: number, shape: Shape): WalScan {
  let frames = 0;
  let committedFrames = 0;
  let running = shape.seed;
  let tail: Tail | undefined;
  for (const frame of readFrames(file, size, shape)) {
    if (tail) {
      tail.add(frame);
    } else if (isOfRound(frame, shape) && isLinked(frame, [running])) {
      frames++;
      if (frame.commit) committedFrames = frames;
      running = frame.stored;
    } else {
      tail = new Tail(shape, frame, running);
    }
  }
  if (!tail?.proved) return { frames, committedFrames };
  return { frames, committedFrames, damage: { atFrame: frames, lostCommits: tail.commits } };
}

/** What stands from the first bad frame on, and whether it proves that a finished commit is in there. */
class Tail {
  proved = false;
  commits = 0;
  private readonly shape: Shape;
  private previous: { commit: number; counted: boolean; sums: Sum[] } | undefined;

  constructor(shape: Shape, bad: Frame, running: Sum) {
    this.shape = shape;
    // If it would be right without its commit mark, just that was hit, and it is no commit. The reverse cannot be told:
    // where exactly the mark of the last commit but one was wiped out, the frame looks like a torn one.
    const commit = same(bad.sumFrom(running, 0), bad.stored) ? 0 : bad.commit;
    this.note(bad, commit, [bad.stored, bad.sumFrom(running)]);
  }

  add(frame: Frame): void {
    // Also behind a frame with foreign salts: it may be one of ours with its salts hit.
    if (this.previous?.commit && isOfRound(frame, this.shape) && isLinked(frame, this.previous.sums)) {
      // Written after the commit before it, so that one was complete.
      this.proved = true;
      if (!this.previous.counted) this.commits++;
    }
    this.note(frame, frame.commit, [frame.stored]);
  }

  /** `sums`: the next frame continues the stored one, or, if just that was hit, the computed one. */
  private note(frame: Frame, commit: number, sums: Sum[]): void {
    const counted = commit !== 0 && isOfRound(frame, this.shape);
    if (counted) {
      // A second commit: the first one was complete before this one's transaction began.
      if (this.commits > 0) this.proved = true;
      this.commits++;
    }
    this.previous = { commit, counted, sums };
  }
}

/**
 * The header is unreadable, and recovery would take the log for an empty one. SQLite syncs the header before the first
 * frame, so it was there; whatever commits the frames hold are lost.
 */
function scanHeadless(file: number, size: number, header: DataView): WalScan {
  for (const shape of guessShapes(file, size, header)) {
    let lostCommits = 0;
    let before = shape.seed;
    for (const frame of readFrames(file, size, shape)) {
      if (frame.commit && isOfRound(frame, shape) && isLinked(frame, [before])) lostCommits++;
      before = frame.stored;
    }
    if (lostCommits > 0) return { frames: 0, committedFrames: 0, damage: { atFrame: -1, lostCommits } };
  }
  return { frames: 0, committedFrames: 0 };
}

/** Every page size and byte order under which two neighbours among the first frames fit together. */
function* guessShapes(file: number, size: number, header: DataView): Generator<Shape> {
  for (let pageSize = 512; pageSize <= 65_536; pageSize *= 2) {
    for (const littleEndian of [true, false]) {
      const seeds = [storedSum(header, 24), checksum(header, 0, 24, { a: 0, b: 0 }, littleEndian)];
      for (const seed of seeds) {
        const shape: Shape = { pageSize, littleEndian, salts: [0, 0], seed };
        const salts = linkedSalts(file, Math.min(size, headerBytes + 16 * (frameHeaderBytes + pageSize)), shape);
        if (salts) yield { ...shape, salts };
      }
    }
  }
}

function linkedSalts(file: number, size: number, shape: Shape): [number, number] | undefined {
  let before = shape.seed;
  for (const frame of readFrames(file, size, shape)) {
    if (isLinked(frame, [before])) return frame.salts;
    before = frame.stored;
  }
  return undefined;
}

function isOfRound(frame: Frame, shape: Shape): boolean {
  return frame.salts[0] === shape.salts[0] && frame.salts[1] === shape.salts[1];
}

/** Page 0 does not exist, but a stretch of zeros has the right checksum. */
function isLinked(frame: Frame, before: Sum[]): boolean {
  return frame.page !== 0 && before.some((sum) => same(frame.sumFrom(sum), frame.stored));
}

function readHeader(view: DataView): Shape | undefined {
  const magic = view.getUint32(0);
  const pageSize = view.getUint32(8);
  if (magic >>> 1 !== 0x377f0682 >>> 1 || view.getUint32(4) !== 3_007_000) return undefined;
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) return undefined;
  const littleEndian = (magic & 1) === 0;
  const seed = checksum(view, 0, 24, { a: 0, b: 0 }, littleEndian);
  if (!same(seed, storedSum(view, 24))) return undefined;
  return { pageSize, littleEndian, salts: [view.getUint32(16), view.getUint32(20)], seed };
}

function* readFrames(file: number, size: number, shape: Shape): Generator<Frame> {
  const frameBytes = frameHeaderBytes + shape.pageSize;
  const count = Math.floor((size - headerBytes) / frameBytes);
  const perChunk = Math.max(1, Math.floor(chunkBytes / frameBytes));
  for (let first = 0; first < count; first += perChunk) {
    const inChunk = Math.min(perChunk, count - first);
    const view = readAt(file, headerBytes + first * frameBytes, inChunk * frameBytes);
    for (let i = 0; i < inChunk; i++) {
      const at = i * frameBytes;
      if (at + frameBytes > view.byteLength) return;
      yield {
        page: view.getUint32(at),
        commit: view.getUint32(at + 4),
        salts: [view.getUint32(at + 8), view.getUint32(at + 12)],
        stored: storedSum(view, at + 16),
        sumFrom: (before, commit = view.getUint32(at + 4)) => frameSum(view, at, shape, before, commit),
      };
    }
  }
}

/** Over page number, commit mark and page, but not over salts and the sum itself. */
function frameSum(view: DataView, at: number, shape: Shape, before: Sum, commit: number): Sum {
  const head = new DataView(new ArrayBuffer(8));
  head.setUint32(0, view.getUint32(at));
  head.setUint32(4, commit);
  const afterHead = checksum(head, 0, 8, before, shape.littleEndian);
  return checksum(view, at + frameHeaderBytes, shape.pageSize, afterHead, shape.littleEndian);
}

function checksum(view: DataView, start: number, length: number, from: Sum, littleEndian: boolean): Sum {
  let { a, b } = from;
  for (let at = start; at < start + length; at += 8) {
    a = (a + view.getInt32(at, littleEndian) + b) | 0;
    b = (b + view.getInt32(at + 4, littleEndian) + a) | 0;
  }
  return { a, b };
}

function storedSum(view: DataView, at: number): Sum {
  return { a: view.getInt32(at), b: view.getInt32(at + 4) };
}

function same(left: Sum, right: Sum): boolean {
  return left.a === right.a && left.b === right.b;
}

function readAt(file: number, position: number, length: number): DataView {
  const bytes = new Uint8Array(length);
  let got = 0;
  while (got < length) {
    const count = fs.readSync(file, bytes, got, length - got, position + got);
    if (count === 0) break;
    got += count;
  }
  return new DataView(bytes.buffer, 0, got);
}
