/** What a person is told about connecting and disconnecting, in a terminal and in the editor alike. */
import { sep } from 'node:path';
import { BusError } from '../core/errors.ts';
import { backupsOf } from './files/backup.ts';
import type { Change, Plan, Problem } from './plan.ts';
import type { Place, Product, Scope } from './products/product.ts';
import type { Proof } from './proveServer.ts';

export interface Report {
  product: Product;
  scope: Scope;
  plan: Plan;
}

/** Where a report is read: paths are told from the person's home, and no name is obeyed by what shows it. */
export interface Voice {
  place: Place;
  clean: (text: string, most?: number) => string;
}

export interface Connected extends Report {
  hooks: boolean;
  installed: boolean;
}

/** Without its full stop. */
export function connectHeadline({ product, scope, plan, hooks }: Connected, { place, clean }: Voice): string {
  const where = scope === 'user' ? 'in your own settings' : `in the project ${clean(place.project)}`;
  const what = hooks || !product.hooks ? '' : ', without hooks';
  return plan.changes.length === 0
    ? `Nothing to change: ${product.title} is connected already, ${where}${what}`
    : `${product.title} is connected, ${where}${what}`;
}

export function connectReport(report: Connected, voice: Voice): string {
  const { product, plan, installed } = report;
  return [
    `${connectHeadline(report, voice)}${plan.changes.length === 0 ? '.' : ':'}`,
    ...plan.changes.map((change) => changeLine(change, voice)),
    ...untouchedLines(plan, voice),
    ...(installed ? [] : [`${product.title} itself was not found on this machine; the files are ready for it.`]),
  ].join('\n');
}

export function proofReport(
  { product, proof, remains, undo }: { product: Product; proof: Proof; remains: readonly string[]; undo: string },
  { clean }: Pick<Voice, 'clean'>,
): string {
  const { agent, tools } = proof;
  return [
    `It works: started as ${product.title} starts it, the server has ${tools.length} tools. In this folder it is the agent "${clean(agent)}".`,
    ...(remains.length > 0 ? ['', 'What remains for you:', ...remains.map((line) => `  - ${line}`)] : []),
    '',
    `To take it back: ${undo}`,
  ].join('\n');
}

/** Without its full stop. */
export function disconnectHeadline({ product, scope, plan }: Report, { place, clean }: Voice): string {
  const where = scope === 'user' ? 'your own settings' : `the settings of the project ${clean(place.project)}`;
  return plan.changes.length === 0
    ? `Nothing to change: ${where} have nothing of Agent Bus for ${product.title}`
    : `${product.title} is no longer connected. Taken out of ${where}`;
}

export function disconnectReport(report: Report, voice: Voice): string {
  const { product, scope, plan } = report;
  const headline = disconnectHeadline(report, voice);
  if (plan.changes.length === 0) {
    const isEditor = product.name === 'vscode' && scope === 'user';
    return `${headline}.${isEditor ? ' The extension is removed in VS Code itself.' : ''}`;
  }
  const kept = plan.changes.flatMap(({ path, spent }) => backupsOf(path).filter((copy) => !spent.includes(copy)));
  return [
    `${headline}:`,
    ...plan.changes.map((change) => changeLine(change, voice)),
    ...untouchedLines(plan, voice),
    ...kept.map((copy) => `  left as it is  ${shortPath(copy, voice)}: the file before it was connected`),
  ].join('\n');
}

export function extensionLine(folder: string): string {
  return `VS Code is connected: the extension is installed in ${folder}.`;
}

/** Which file, which line and why. */
export function problemLine({ path, line, why }: Problem): string {
  return `${path}${line === undefined ? '' : `, line ${line}`}: ${why}.`;
}

export function goOnQuestion({ changes }: Pick<Plan, 'changes'>, { clean }: Pick<Voice, 'clean'>): string {
  return `That file will not be touched. Go on with ${clean(changes.map(({ path }) => path).join(', '), 500)}?`;
}

export function unreadableError(problem: Problem): BusError {
  return new BusError('bad-settings', problemLine(problem), {
    next: 'Nothing was changed. Correct the file there, or move it away, and run the command again.',
  });
}

export function shortPath(path: string, { place: { home }, clean }: Voice): string {
  return clean(path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path, 500);
}

function changeLine(change: Change, voice: Voice): string {
  const { path, backup } = change;
  const copy = backup === undefined ? '' : `  (as it was: ${shortPath(backup, voice)})`;
  return `  ${changeWord(change)}  ${shortPath(path, voice)}${copy}`;
}

export function changeWord({ before, after }: Pick<Change, 'before' | 'after'>): 'created' | 'removed' | 'changed' {
  return before === undefined ? 'created' : after === undefined ? 'removed' : 'changed';
}

function untouchedLines({ problems }: Plan, voice: Voice): string[] {
  return problems.map(({ path, why }) => `  not touched  ${shortPath(path, voice)}: ${why}`);
}
