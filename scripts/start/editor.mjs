// The VS Code that this machine can offer, with our extension in it; without one, the reason in one sentence.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureEditor } from '../editor.mjs';
import { DesktopEditor, findDesktopCode } from './desktopEditor.mjs';
import { step } from './progress.mjs';
import { ServerEditor } from './serverEditor.mjs';

export async function prepareEditor({ root, tryout, env, port, say }) {
  try {
    const desktop = findDesktopCode(env);
    const editor = desktop
      ? new DesktopEditor(desktop, { tryout, env, say })
      : new ServerEditor(await serverOf(), { tryout, env, port, say });
    const vsix = join(tryout.folder, 'agent-bus.vsix');
    await step('Packaging the extension', () => packageExtension(root, vsix));
    await step(`Installing the extension into ${editor.name}`, () => editor.install(vsix));
    return editor;
  } catch (error) {
    const [reason] = error.message.split('\n', 1);
    say(`No editor this time: ${reason.replace(/\.?$/, '.')} The hub runs without it.`);
    return undefined;
  }
}

const serverOf = () => step('Getting VS Code for the browser (some minutes, once)', (say) => ensureEditor({ say }));

async function packageExtension(root, file) {
  try {
    await promisify(execFile)(process.execPath, [join(root, 'scripts', 'package.mjs'), '--out', file], { cwd: root });
  } catch (error) {
    throw new Error(`the extension could not be packaged (${tellingLine(error.stderr || error.message)})`, {
      cause: error,
    });
  }
}

/** Of what a program said before it gave up. */
function tellingLine(text) {
  const lines = text.trim().split('\n');
  return (lines.find((line) => /error\b/i.test(line)) ?? lines.at(-1)).trim();
}
