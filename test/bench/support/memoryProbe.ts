/** Loaded into a hub beside its own code: tells the bench its memory, without the garbage. */
process.on('message', () => {
  for (let i = 0; i < 4; i++) globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
process.on('disconnect', () => undefined);
process.channel?.unref();
