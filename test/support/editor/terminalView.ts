/** A terminal of a window with a program in it, as a person has it before them. */
import type { Launch } from '../agents/agentRun.ts';
import { until } from '../hubProcess.ts';
import { editorPatienceMs } from './editorTools.ts';
import type { EditorWindow } from './editorWindow.ts';

export class TerminalView {
  private readonly window: EditorWindow;

  private constructor(window: EditorWindow) {
    this.window = window;
  }

  /** Opens a bash, waits for its shell integration, and types the command. */
  static async open(window: EditorWindow, { program, args, env, cwd }: Launch): Promise<TerminalView> {
    const line = [program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    await window.evaluate(
      async (api, launch) => {
        const { cwd: folder, env: variables } = launch;
        const terminal = api.window.createTerminal({ shellPath: '/bin/bash', cwd: folder, env: variables });
        const integrated = new Promise<void>((resolve) => {
          api.window.onDidChangeTerminalShellIntegration((event) => {
            if (event.terminal === terminal) resolve();
          });
          if (terminal.shellIntegration) resolve();
        });
        terminal.show();
        await integrated;
        terminal.sendText(launch.line);
      },
      { line, env, cwd },
    );
    return new TerminalView(window);
  }

  /** Rows as they are drawn, without colours. */
  text(): Promise<string> {
    const rows = this.window.page.locator('.terminal-wrapper.active .xterm-rows > div');
    return rows.allInnerTexts().then((lines) => lines.join('\n').replaceAll('\u00a0', ' '));
  }

  async shows(wanted: RegExp | string): Promise<void> {
    let last = '';
    const isThere = async () => {
      last = await this.text();
      return typeof wanted === 'string' ? last.includes(wanted) : wanted.test(last);
    };
    await until(`${wanted} is in the terminal`, isThere, editorPatienceMs).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}; it shows\n${last}`);
    });
  }

  async type(text: string): Promise<void> {
    await this.focus();
    await this.window.page.keyboard.type(text);
  }

  async press(key: string): Promise<void> {
    await this.focus();
    await this.window.page.keyboard.press(key);
  }

  private async focus(): Promise<void> {
    await this.window.page.locator('.terminal-wrapper.active textarea.xterm-helper-textarea').first().focus();
  }
}
