/** What `connect` and `disconnect` tell a person. */
import type { ConnectionState } from '../connect/connectionState.ts';
import type { Detected } from '../connect/detect.ts';
import { backupsOf } from '../connect/files/backup.ts';
import type { Change, Plan } from '../connect/plan.ts';
import type { Place, Product, Scope } from '../connect/products/product.ts';
import type { Proof } from '../connect/proveServer.ts';
import { unifiedDiff } from '../connect/unifiedDiff.ts';
import { visibleLine, visibleText } from './terminalText.ts';

export interface Report {
  product: Product;
  scope: Scope;
  plan: Plan;
}

export interface ProductLine {
  product: Product;
  found: Detected;
  user: ConnectionState;
  project: ConnectionState;
}

export function connectReport(report: Report & { hooks: boolean; installed: boolean }, place: Place): string {
  const { product, scope, plan, hooks, installed } = report;
  const where = scope === 'user' ? 'in your own settings' : `in the project ${visibleLine(place.project)}`;
  const what = hooks || !product.hooks ? '' : ', without hooks';
  return [
    plan.changes.length === 0
      ? `Nothing to change: ${product.title} is connected already, ${where}${what}.`
      : `${product.title} is connected, ${where}${what}:`,
    ...plan.changes.map((change) => changeLine(change, place)),
    ...plan.problems.map(({ path, why }) => `  not touched  ${short(path, place)}: ${why}`),
    ...(installed ? [] : [`${product.title} itself was not found on this machine; the files are ready for it.`]),
  ].join('\n');
}

export function proofReport(
  product: Product,
  { agent, tools }: Proof,
  remains: readonly string[],
  undo: string,
): string {
  const named = visibleLine(agent);
  return [
    `It works: started as ${product.title} starts it, the server has ${tools.length} tools. In this folder it is the agent "${named}".`,
    ...(remains.length > 0 ? ['', 'What remains for you:', ...remains.map((line) => `  - ${line}`)] : []),
    '',
    `To take it back: ${undo}`,
  ].join('\n');
}

export function disconnectReport({ product, scope, plan }: Report, place: Place): string {
  const where = scope === 'user' ? 'your own settings' : `the settings of the project ${visibleLine(place.project)}`;
  if (plan.changes.length === 0) {
    const isEditor = product.name === 'vscode' && scope === 'user';
    const hint = isEditor ? ' The extension is removed in VS Code itself.' : '';
    return `Nothing to change: ${where} have nothing of Agent Bus for ${product.title}.${hint}`;
  }
  const kept = plan.changes.flatMap(({ path, spent }) => backupsOf(path).filter((copy) => !spent.includes(copy)));
  return [
    `${product.title} is no longer connected. Taken out of ${where}:`,
    ...plan.changes.map((change) => changeLine(change, place)),
    ...plan.problems.map(({ path, why }) => `  not touched  ${short(path, place)}: ${why}`),
    ...kept.map((copy) => `  left as it is  ${short(copy, place)}: the file before it was connected`),
  ].join('\n');
}

export function listReport(lines: readonly ProductLine[], place: Place, shell: string): string {
  const rows = lines.map((line) => {
    const { product, found } = line;
    return `  ${product.name.padEnd(9)}${product.title.padEnd(13)}${(found.installed ? 'installed' : 'not found').padEnd(11)}${sentence(line, place)}`;
  });
  const open = lines.find(
    ({ found, user, project }) => found.installed && user.state === 'no' && project.state === 'no',
  );
  return [
    'Agents’ products, and whether they are on the bus:',
    ...rows,
    '',
    `To connect one: ${shell} connect ${open?.product.name ?? 'PRODUCT'}${open ? '' : '  (as named in the first column)'}`,
  ].join('\n');
}

export function diffOf({ path, before, after }: Change): string {
  return visibleText(unifiedDiff(path, before?.toString(), after?.toString()));
}

const words: Record<ConnectionState['state'], string> = {
  connected: 'connected',
  'without hooks': 'connected without hooks',
  partly: 'connected in part',
  no: 'not connected',
  unreadable: 'can’t be read',
};

function sentence({ product, user, project }: ProductLine, place: Place): string {
  const own = user.state === 'no' && project.state !== 'no' ? '' : words[user.state];
  const here = project.state === 'no' ? '' : `${words[project.state]} in this project`;
  const said = [own, here].filter((part) => part !== '').join('; ');
  const parts = [user, project].filter(({ state }) => state === 'partly' || state === 'unreadable');
  const lacking = parts.flatMap(({ missing }) => missing.map((path) => short(path, place)));
  if (lacking.length > 0) return `${said} (${lacking.join(', ')})`;
  return user.state === 'without hooks' ? `${said} (run \`agent-bus connect ${product.name}\` to add them)` : said;
}

function changeLine({ path, before, after, backup }: Change, place: Place): string {
  const what = before === undefined ? 'created' : after === undefined ? 'removed' : 'changed';
  const copy = backup === undefined ? '' : `  (as it was: ${short(backup, place)})`;
  return `  ${what}  ${short(path, place)}${copy}`;
}

function short(path: string, { home }: Place): string {
  return visibleLine(path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path, 500);
}
