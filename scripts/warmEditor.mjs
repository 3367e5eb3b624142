// Fetches and compiles what the tests in a real VS Code need, ahead of them and behind whatever else runs: on a new machine
// that takes minutes. Trouble is told by those who need it.
import { setPriority } from 'node:os';
import { ensureChromium, ensureEditor } from './editor.mjs';

const say = (text) => console.log(`  ${text}`);
try {
  setPriority(10);
  await ensureChromium({ say });
  await ensureEditor({ say });
} catch {
  process.exitCode = 1;
}
