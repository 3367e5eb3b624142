import { createInterface } from 'node:readline/promises';
import { goOnQuestion, problemLine } from '../connect/connectReport.ts';
import type { Plan, Problem } from '../connect/plan.ts';
import { visibleLine } from './terminalText.ts';

/** Asks whoever sits at the terminal; where nobody does, the answer is no. */
export async function askToGoOn(problem: Problem, plan: Plan): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const question = `${visibleLine(problemLine(problem), 500)}\n${goOnQuestion(plan, { clean: visibleLine })} [y/N] `;
    return /^y(es)?$/i.test((await asking.question(question)).trim());
  } finally {
    asking.close();
  }
}
