export interface Patience {
  /** Aborted when it has run out. */
  signal: AbortSignal;
  heard: () => void;
  /** Nothing more is wanted of it, but a connection whose stream ends by itself can be used again. */
  finish: () => void;
  end: () => void;
}

const finishMs = 1_000;

/** A stream may hang without anybody noticing: it is left when nothing comes for long, from the first sign of life on. */
export function patience(signal: AbortSignal, ms: number): Patience {
  const silence = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const wait = (most: number): NodeJS.Timeout => setTimeout(() => silence.abort(new Error('silence')), most).unref();
  return {
    signal: AbortSignal.any([signal, silence.signal]),
    heard: () => {
      timer = timer?.refresh() ?? wait(ms);
    },
    finish: () => {
      clearTimeout(timer);
      timer = wait(finishMs);
    },
    end: () => clearTimeout(timer),
  };
}
