import { runHook } from './cli/hookRun.ts';

// `agent-bus hook [PRODUCT] EVENT`, as products run it: an entry of its own, since an agent waits for it at each of its steps.
// A call with options, or with too few or too many words, is for the whole command line.
const words = process.argv.slice(3);
const isPlain = words.length >= 1 && words.length <= 2 && words.every((word) => !word.startsWith('-'));
if (isPlain) void runHook(words).then(() => process.exit(0));
else void import('./cli.ts');
