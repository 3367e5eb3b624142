/** Connects a product as `agent-bus connect` does, with the editor's own means: lists, a comparison, questions. */
import * as vscode from 'vscode';
import { applyChanges } from '../../connect/applyPlan.ts';
import {
  connectHeadline,
  connectReport,
  disconnectHeadline,
  disconnectReport,
  extensionLine,
  goOnQuestion,
  problemLine,
  proofReport,
  shortPath,
  unreadableError,
  type Voice,
} from '../../connect/connectReport.ts';
import { detect } from '../../connect/detect.ts';
import { areOn } from '../../connect/files/settingIn.ts';
import { placeAt } from '../../connect/placeAt.ts';
import { planConnect, planDisconnect, type Plan } from '../../connect/plan.ts';
import type { Place, Product } from '../../connect/products/product.ts';
import { proveConnection } from '../../connect/proveConnection.ts';
import { survey } from '../../connect/survey.ts';
import { isOnDisk } from '../window/workspacePath.ts';
import { previewChanges } from './changePreview.ts';
import { deedItems, productItems, voiceAt, type Deed } from './productItems.ts';
import type { ReadonlyTexts } from './readonlyTexts.ts';

export interface ConnectParts {
  texts: ReadonlyTexts;
  /** The folder of the stable launcher. */
  bin: string;
  /** The folder of this extension. */
  extension: string;
}

const title = 'Connect an Agent';
const undo = 'run “Agent Bus: Connect an Agent…” again and choose Disconnect.';
const details = 'Show Details';
const openFile = 'Open File';
const goOn = 'Go On';
const switchOn = 'Switch On';
const leaveOff = 'Leave Off';

export async function connectAgent(parts: ConnectParts): Promise<void> {
  const projects = projectFolders().map((folder) => placeAt(folder, parts.bin));
  // Without a folder it is tried from the person's home.
  const place = projects[0] ?? placeAt(placeAt('', parts.bin).home, parts.bin);
  const lines = survey(place, { extension: parts.extension, withoutProject: projects.length === 0 });
  const chosen = await vscode.window.showQuickPick(productItems(lines, place), {
    title,
    placeHolder: 'Which agent is to be on the bus?',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (!chosen?.product) return;
  const deed = await pickDeed(chosen.product, place, projects, parts);
  if (deed) await carryOut(deed, parts.texts);
}

async function pickDeed(
  product: Product,
  place: Place,
  projects: readonly Place[],
  { extension }: ConnectParts,
): Promise<Deed | undefined> {
  const items = deedItems(product, place, projects);
  if (items.length === 0) {
    void vscode.window.showInformationMessage(`Agent Bus: ${extensionLine(voiceAt(place).clean(extension, 500))}`);
    return undefined;
  }
  const placeHolder = 'What is to be done, and where?';
  const chosen = await vscode.window.showQuickPick(items, { title: product.title, placeHolder });
  return chosen?.deed;
}

async function carryOut(deed: Deed, texts: ReadonlyTexts): Promise<void> {
  const answer = deed.asks ? await askToExperiment(deed.product) : leaveOff;
  if (answer === undefined) return;
  const experimental = answer === switchOn;
  const plan = deed.what === 'connect' ? planConnect({ ...deed, experimental }) : planDisconnect(deed);
  if (!(await isReadable(plan, voiceAt(deed.place)))) return;
  if (plan.changes.length > 0 && !(await isWanted(deed, plan, texts))) return;
  if (deed.what === 'connect') await connect(deed, plan, texts);
  else await disconnect(deed, plan, texts);
}

/** What a product calls experimental is its person's to switch on. @returns undefined if they want none of it all */
function askToExperiment({ title: name, experimental = '' }: Product): Thenable<string | undefined> {
  const question = `May ${name} be woken while it is idle?`;
  return vscode.window.showInformationMessage(question, { modal: true, detail: experimental }, switchOn, leaveOff);
}

/** Files that can't be read are never touched, and stop everything unless the person says to go on with the others. */
async function isReadable(plan: Plan, voice: Voice): Promise<boolean> {
  const [first] = plan.problems;
  if (!first) return true;
  const short = <T extends { path: string }>(one: T): T => ({ ...one, path: shortPath(one.path, voice) });
  const canGoOn = plan.changes.length > 0;
  const chosen = await vscode.window.showWarningMessage(
    plan.problems.map((problem) => problemLine(short(problem))).join(' '),
    {
      modal: true,
      detail: canGoOn ? goOnQuestion({ changes: plan.changes.map(short) }, voice) : unreadableError(first).next,
    },
    openFile,
    ...(canGoOn ? [goOn] : []),
  );
  if (chosen === openFile) {
    for (const { path, line = 1 } of plan.problems) {
      const at = new vscode.Position(line - 1, 0);
      const options = { preview: false, selection: new vscode.Range(at, at) };
      await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(path), options);
    }
  }
  return chosen === goOn;
}

/** The person sees every byte that would change, and decides while it is on the screen. */
async function isWanted({ what, product, place }: Deed, { changes }: Plan, texts: ReadonlyTexts): Promise<boolean> {
  const files = changes.map(({ path }) => shortPath(path, voiceAt(place))).join(', ');
  const close = await previewChanges(texts, `${product.title}: What Would Change`, changes);
  const isKept = changes.some(({ backup }) => backup !== undefined);
  const write = {
    label: what === 'connect' ? '$(check) Write' : '$(debug-disconnect) Disconnect',
    description: isKept ? 'a copy of what is there now stays beside it' : '',
  };
  const leave = { label: '$(close) Leave Everything as It Is' };
  try {
    // Without a title of its own: the list would hide more of what it is about.
    const placeHolder = `${files} would change as you see below`;
    const chosen = await vscode.window.showQuickPick([write, leave], { placeHolder, ignoreFocusOut: true });
    return chosen === write;
  } finally {
    await close();
  }
}

async function connect(deed: Deed, plan: Plan, texts: ReadonlyTexts): Promise<void> {
  const { product, place, scope, hooks } = deed;
  const { installed } = detect(product, place);
  const report = { product, scope, plan, hooks, installed };
  const proof = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Agent Bus: connecting ${product.title} and trying it…` },
    () => {
      applyChanges(plan.changes);
      return proveConnection(report, { place, undo });
    },
  );
  const voice = voiceAt(place);
  const remains = product.remains(scope, hooks, areOn(product.files(place, scope, true)));
  const said = proofReport({ product, proof, remains, undo }, voice);
  // What remains for the person would be gone with a notification before it is read.
  const chosen = await vscode.window.showInformationMessage(
    `${connectHeadline(report, voice)}.`,
    { modal: true, detail: said },
    { title: 'OK', isCloseAffordance: true },
    { title: details },
  );
  if (chosen?.title === details) await tell(texts, product, `${connectReport(report, inFull(place))}\n\n${said}`);
}

async function disconnect({ product, place, scope }: Deed, plan: Plan, texts: ReadonlyTexts): Promise<void> {
  applyChanges(plan.changes);
  const report = { product, scope, plan };
  const headline = `Agent Bus: ${disconnectHeadline(report, voiceAt(place))}.`;
  const chosen = await vscode.window.showInformationMessage(headline, details);
  if (chosen === details) await tell(texts, product, disconnectReport(report, inFull(place)));
}

function tell(texts: ReadonlyTexts, product: Product, text: string): Promise<void> {
  return texts.show(`/Agent Bus and ${product.title}.md`, `${text}\n`);
}

/** In a text of its own, which wraps its lines as Markdown does, nothing is a link or a command. */
function inFull(place: Place): Voice {
  return { place, clean: (text) => text.replace(/\s+/g, ' ') };
}

function projectFolders(): string[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.filter(({ uri }) => isOnDisk(uri)).map(({ uri }) => uri.fsPath);
}
