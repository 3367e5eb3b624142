import type { Locator } from 'playwright-core';

/** The page's own, where the function below runs. */
declare function requestAnimationFrame(run: (now: number) => void): number;

export interface Frames {
  /** Milliseconds between one frame and the next. */
  p50: number;
  p95: number;
  worst: number;
}

/** Scrolls by so much in every frame, for so long, down and up; by 0 it only counts frames. */
export async function scrollFrames(list: Locator, pixels: number, ms = 3_000): Promise<Frames> {
  const gaps = await list.evaluate(
    async (element, { step, duration }) => {
      const found: number[] = [];
      let speed = step;
      let last = await new Promise<number>(requestAnimationFrame);
      const end = last + duration;
      while (last < end) {
        const before = element.scrollTop;
        element.scrollTop += speed;
        if (speed !== 0 && element.scrollTop === before) speed = -speed;
        const now = await new Promise<number>(requestAnimationFrame);
        found.push(now - last);
        last = now;
      }
      return found;
    },
    { step: pixels, duration: ms },
  );
  const sorted = gaps.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), worst: at(1) };
}
