/** The programs that tests in a real editor need, or the reason why these tests can't run here. */
import { ensureChromium, ensureEditor, EditorUnavailable } from '../../../scripts/editor.mjs';

/** An editor on a crowded machine takes its time; nothing is ever measured with it. */
export const editorPatienceMs = Number(process.env['AGENT_BUS_TEST_PATIENCE_MS'] ?? 150_000);

export interface EditorTools {
  /** code-server's script, and the Node that runs it. */
  entry: string;
  node: string;
  chromium: string;
}

/** For `test(name, { skip })`: a sentence where there is no editor, except in CI, where that is a failure. */
export const skipWithoutEditor: string | false = await whyNot();

export async function editorTools(): Promise<EditorTools> {
  const { entry, node } = await ensureEditor();
  return { entry, node, chromium: await ensureChromium() };
}

async function whyNot(): Promise<string | false> {
  const told = process.env['AGENT_BUS_NO_EDITOR'];
  const reason = told ?? (await editorTools().then(() => undefined, reasonOf));
  if (reason === undefined) return false;
  if (process.env['CI']) throw new Error(`There is no real VS Code here, and CI must have one. ${reason}`);
  return `no real VS Code here: ${reason.split('\n', 1)[0] ?? ''}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof EditorUnavailable) return error.message;
  throw error;
}
