/** Loaded into a server beside its own code: tells the bench its memory, without the garbage. */
process.on('message', () => {
  for (let i = 0; i < 4; i++) globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
process.channel?.unref();
