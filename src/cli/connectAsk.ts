import { createInterface } from 'node:readline/promises';
import { goOnQuestion, problemLine } from '../connect/connectReport.ts';
import type { Plan, Problem } from '../connect/plan.ts';
import { visibleLine } from './terminalText.ts';

export function askToGoOn(problem: Problem, plan: Plan): Promise<boolean> {
  return agrees(`${visibleLine(problemLine(problem), 500)}\n${goOnQuestion(plan, { clean: visibleLine })}`);
}

/** Asks whoever sits at the terminal; where nobody does, the answer is no. */
export async function agrees(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await asking.question(`${question} [y/N] `)).trim());
  } finally {
    asking.close();
  }
}
