import { createInterface } from 'node:readline/promises';
import type { Plan } from '../connect/plan.ts';
import { visibleLine } from './terminalText.ts';

/** Asks whoever sits at the terminal; where nobody does, the answer is no. */
export async function askToGoOn(problem: string, plan: Plan): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  const others = plan.changes.map(({ path }) => path).join(', ');
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const question = `${visibleLine(problem, 500)}\nThat file will not be touched. Go on with ${visibleLine(others, 500)}? [y/N] `;
    return /^y(es)?$/i.test((await asking.question(question)).trim());
  } finally {
    asking.close();
  }
}
