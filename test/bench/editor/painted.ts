import type { Locator } from 'playwright-core';

/** The page's own, where the function below runs. */
declare function requestAnimationFrame(run: (now: number) => void): number;

/** Resolves when the element is there and two frames later, so that it has been on the screen. */
export async function painted(element: Locator): Promise<void> {
  await element.first().waitFor();
  await element.first().evaluate(async () => {
    for (let i = 0; i < 2; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
  });
}

/** Milliseconds from the beginning of the action until the element that it leads to is on the screen. */
export async function untilPainted(action: () => Promise<Locator>): Promise<number> {
  const began = performance.now();
  await painted(await action());
  return performance.now() - began;
}
