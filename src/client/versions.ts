/** Semantic versions: negative if a is older than b. A pre-release is older than its release. */
export function compareVersions(a: string, b: string): number {
  const [coreA, preA] = split(a);
  const [coreB, preB] = split(b);
  for (let i = 0; i < 3; i++) {
    const difference = (coreA[i] ?? 0) - (coreB[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (preA === preB) return 0;
  if (preA === undefined) return 1;
  if (preB === undefined) return -1;
  return preA < preB ? -1 : 1;
}

function split(version: string): [number[], string | undefined] {
  const [core = '', pre] = version.split(/-(.*)/s);
  return [core.split('.').map(Number), pre];
}
