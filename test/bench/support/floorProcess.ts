/** The process around a floor's `serve`. */
import './memoryProbe.ts';

const { serve } = (await import(process.argv[2] ?? '')) as { serve: () => Promise<number> };
process.send?.({ port: await serve() });
process.once('disconnect', () => process.exit());
