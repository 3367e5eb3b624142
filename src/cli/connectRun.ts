/**
 * `agent-bus connect` and `disconnect`. What takes other programs' files apart is behind this file: it is loaded for
 * these two commands only.
 */
import { dirname, join } from 'node:path';
import { bundledHub } from '../client/hubProcess.ts';
import { applyChanges } from '../connect/applyPlan.ts';
import {
  changeWord,
  connectReport,
  disconnectReport,
  extensionLine,
  proofReport,
  unreadableError,
  type Voice,
} from '../connect/connectReport.ts';
import { detect, installedExtension } from '../connect/detect.ts';
import { areOn } from '../connect/files/settingIn.ts';
import { install } from '../connect/installation.ts';
import { placeAt } from '../connect/placeAt.ts';
import { planConnect, planDisconnect, type Change, type Plan } from '../connect/plan.ts';
import { productNames, type Place, type Product, type Scope } from '../connect/products/product.ts';
import { productNamed, products } from '../connect/products/table.ts';
import { proveConnection } from '../connect/proveConnection.ts';
import { survey, type ProductLine } from '../connect/survey.ts';
import { unifiedDiff } from '../connect/unifiedDiff.ts';
import type { BusHome } from '../hub/home.ts';
import { version } from '../hub/version.ts';
import { closest } from './closest.ts';
import { agrees, askToGoOn } from './connectAsk.ts';
import { commandLine } from './commandLine.ts';
import { ExitCode, exitCodeOf } from './exitCode.ts';
import { printError, printJson, printLine } from './print.ts';
import { productList } from './productList.ts';
import { visibleLine, visibleText } from './terminalText.ts';
import { usageError } from './usageError.ts';

export interface ConnectCall {
  product: string | undefined;
  user?: boolean;
  project?: boolean;
  hooks: boolean;
  experimental?: boolean;
  dryRun: boolean;
  json: boolean;
  home: BusHome;
}

export function runConnect(call: ConnectCall): Promise<ExitCode> {
  return tellingErrors(call, async () => {
    const { json, dryRun, hooks } = call;
    const place = placeOf(call);
    if (call.product === undefined) return tellList(place, json);
    const { product, scope } = chosen(call);
    if (product.name === 'vscode' && scope === 'user') return tellExtension(place, json);
    const experimental = await mayExperiment(call, { product, place, scope });
    const plan = await withoutProblems(planConnect({ product, place, scope, hooks, experimental }), json);
    if (dryRun) return tellDiff(plan, json);

    await install({ from: dirname(bundledHub), version, home: call.home });
    applyChanges(plan.changes);
    const { installed } = detect(product, place);
    if (!json) await printLine(connectReport({ product, scope, plan, hooks, installed }, voiceAt(place)));
    const undo = undoLine(product, scope);
    const proof = await proveConnection({ product, scope, plan }, { place, undo });
    const remains = product.remains(scope, hooks, areOn(product.files(place, scope, true)));
    if (json) await printJson({ ...summary(product, scope, plan), installed, proof, remains });
    else await printLine(proofReport({ product, proof, remains, undo }, voiceAt(place)));
    return ExitCode.ok;
  });
}

export function runDisconnect(call: ConnectCall): Promise<ExitCode> {
  return tellingErrors(call, async () => {
    const { json } = call;
    const place = placeOf(call);
    const { product, scope } = chosen(call);
    const plan = await withoutProblems(planDisconnect({ product, place, scope, hooks: true }), json);
    if (call.dryRun) return tellDiff(plan, json);
    applyChanges(plan.changes);
    if (json) await printJson(summary(product, scope, plan));
    else await printLine(disconnectReport({ product, scope, plan }, voiceAt(place)));
    return ExitCode.ok;
  });
}

/** What a product calls experimental is its person's to switch on: by the option, or asked for at a terminal. */
async function mayExperiment(
  { experimental, hooks, dryRun, json }: ConnectCall,
  { product, place, scope }: { product: Product; place: Place; scope: Scope },
): Promise<boolean> {
  if (experimental && product.experimental === undefined) {
    throw usageError(`--experimental means nothing for ${product.title}.`, 'Run the command without it.');
  }
  if (experimental && !hooks)
    throw usageError('--experimental and --no-hooks exclude each other.', 'Give one of them.');
  if (experimental !== undefined || product.experimental === undefined || !hooks || dryRun || json)
    return experimental ?? false;
  return !areOn(product.files(place, scope, true)) && (await agrees(product.experimental));
}

/** Errors of this bundle are of classes of its own, which the rest of the command line would not know. */
async function tellingErrors({ json }: ConnectCall, run: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await run();
  } catch (error) {
    await printError(error, json);
    return exitCodeOf(error);
  }
}

/** Every product, and how far each is on the bus; for those who only look. */
export function surveyFor(home: BusHome): ProductLine[] {
  return survey(placeOf({ home }));
}

function placeOf({ home }: Pick<ConnectCall, 'home'>): Place {
  return placeAt(process.cwd(), join(home.folder, 'bin'));
}

function voiceAt(place: Place): Voice {
  return { place, clean: visibleLine };
}

function chosen({ product: name = '', user, project }: ConnectCall): { product: Product; scope: Scope } {
  const product = productNamed(name);
  if (!product) {
    const meant = closest(name, [...productNames]);
    throw usageError(
      `There is no product "${name.slice(0, 60)}" that can be connected.`,
      `${meant ? `Did you mean ${meant}? ` : ''}The products are: ${productNames.join(', ')}.`,
    );
  }
  if (user && project) throw usageError('--user and --project exclude each other.', 'Give one of them.');
  return { product, scope: project ? 'project' : 'user' };
}

function undoLine(product: Product, scope: Scope): string {
  return `${commandLine().shell} disconnect ${product.name}${scope === 'project' ? ' --project' : ''}`;
}

/** Files that can't be read stop everything, unless a person says to go on with the others. */
async function withoutProblems(plan: Plan, json: boolean): Promise<Plan> {
  const [first] = plan.problems;
  if (!first) return plan;
  if (plan.changes.length > 0 && !json && (await askToGoOn(first, plan))) return plan;
  throw unreadableError(first);
}

async function tellDiff(plan: Plan, json: boolean): Promise<ExitCode> {
  const diffs = plan.changes.map((change) => ({ path: change.path, diff: diffOf(change) }));
  if (json) await printJson({ dry_run: true, changes: diffs, unchanged: plan.unchanged });
  else await printLine(diffs.length > 0 ? diffs.map(({ diff }) => diff).join('\n') : 'Nothing to change.');
  return ExitCode.ok;
}

async function tellList(place: Place, json: boolean): Promise<ExitCode> {
  const lines = survey(place);
  if (!json) {
    await printLine(productList(lines, voiceAt(place), commandLine().shell));
    return ExitCode.ok;
  }
  await printJson({
    products: lines.map(({ product: { name, title }, found, user, project }) => {
      return { name, title, installed: found.installed, because: found.because ?? null, user, project };
    }),
  });
  return ExitCode.ok;
}

const extensionId = 'agent-bus.agent-bus';

async function tellExtension(place: Place, json: boolean): Promise<ExitCode> {
  const extension = installedExtension(place);
  const { installed } = detect(products.vscode, place);
  const install = `code --install-extension ${extensionId}`;
  if (json) {
    await printJson({ product: 'vscode', scope: 'user', installed, extension: extension ?? null, install });
    return ExitCode.ok;
  }
  const lines = extension
    ? [extensionLine(extension)]
    : [
        'VS Code is connected by the extension Agent Bus; there is no file to write. Install it with',
        `  ${install}`,
        'or, from a file: code --install-extension agent-bus.vsix; then open a window.',
        'Without the extension, for one project: agent-bus connect vscode --project',
      ];
  await printLine(lines.join('\n'));
  return ExitCode.ok;
}

function summary(product: Product, scope: Scope, plan: Plan): object {
  const changed = plan.changes.map((change) => ({
    path: change.path,
    change: changeWord(change),
    ...(change.backup !== undefined && { backup: change.backup }),
  }));
  return { product: product.name, scope, changed, unchanged: plan.unchanged, problems: plan.problems };
}

function diffOf({ path, before, after }: Change): string {
  return visibleText(unifiedDiff(path, before?.toString(), after?.toString()));
}
