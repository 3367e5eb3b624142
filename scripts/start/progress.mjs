// One long step at a time: a spinner with the seconds on a terminal, plain lines elsewhere.
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const lineEverySeconds = 30;

/**
 * @template T
 * @param {string} text what is being done, as the middle of a sentence
 * @param {(detail: (text: string) => void) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(text, work, out = process.stderr) {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1000);
  let detail = '';
  let turn = 0;
  const draw = () => {
    const line = `${frames[turn++ % frames.length]} ${text} … ${seconds()} s${detail && `  ${detail}`}`;
    out.write(`\r${line.slice(0, (out.columns ?? 80) - 1)}\x1b[K`);
  };
  const remind = () => out.write(`[agent-bus] … still at it after ${seconds()} s${detail && `: ${detail}`}\n`);
  if (!out.isTTY) out.write(`[agent-bus] ${text} …\n`);
  const timer = out.isTTY ? setInterval(draw, 120) : setInterval(remind, lineEverySeconds * 1000);
  const clear = () => {
    clearInterval(timer);
    if (out.isTTY) out.write('\r\x1b[K');
  };
  try {
    const result = await work((now) => (detail = now.replace(/\s+/g, ' ').trim()));
    clear();
    out.write(`[agent-bus] ${text}: done${seconds() > 0 ? ` in ${seconds()} s` : ''}.\n`);
    return result;
  } finally {
    clear();
  }
}
