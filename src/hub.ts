import { runHub } from './hub/main.ts';
import { version } from './hub/version.ts';

runHub(version).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${String(error instanceof Error ? error.message : error)}\n`);
    process.exit(1);
  },
);
