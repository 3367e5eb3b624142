import * as vscode from 'vscode';
import { sizeOf, terminalDevice } from './terminalSize.ts';
import { TerminalScreen } from './terminalScreen.ts';
import type { TypistTerminal } from './typist.ts';

/** The programs of the products as people start them; another name is found out when an agent in it is to be woken. */
const productNames = /\b(claude|codex|copilot|gemini)\b/;

/**
 * The terminals of this window by the processes that they have started, and what the programs in them show. Only the
 * shell integration lets an extension read a terminal, and only from the start of a program on.
 */
export class TerminalScreens implements vscode.Disposable {
  private readonly screens = new Map<vscode.Terminal, TerminalScreen>();
  /** The shells, mostly. */
  private readonly processes = new Map<vscode.Terminal, number>();
  private readonly devices = new WeakMap<vscode.Terminal, string>();
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[] = [this.changes];
  /** Terminals were opened or closed. */
  readonly onChange = this.changes.event;

  constructor() {
    this.disposables.push(
      vscode.window.onDidOpenTerminal((terminal) => void this.opened(terminal)),
      vscode.window.onDidCloseTerminal((terminal) => {
        this.ended(terminal);
        if (this.processes.delete(terminal)) this.changes.fire();
      }),
      vscode.window.onDidStartTerminalShellExecution((event) => this.started(event)),
      vscode.window.onDidEndTerminalShellExecution(({ terminal }) => this.ended(terminal)),
    );
    for (const terminal of vscode.window.terminals) void this.opened(terminal);
  }

  pids(): number[] {
    return [...this.processes.values()];
  }

  find(pid: number): TypistTerminal | undefined {
    const terminal = [...this.processes].find(([, process]) => process === pid)?.[0];
    if (!terminal) return undefined;
    const screen = this.screens.get(terminal);
    return { screen: screen && (() => screen.screen()), send: (text) => terminal.sendText(text, false) };
  }

  dispose(): void {
    for (const one of this.disposables) one.dispose();
    for (const terminal of [...this.screens.keys()]) this.ended(terminal);
  }

  private async opened(terminal: vscode.Terminal): Promise<void> {
    const pid = await terminal.processId;
    // Some are no processes, and some have gone meanwhile.
    if (pid === undefined || terminal.exitStatus !== undefined) return;
    const device = await terminalDevice(pid);
    if (device !== undefined) this.devices.set(terminal, device);
    this.processes.set(terminal, pid);
    this.changes.fire();
  }

  private started({ terminal, execution }: vscode.TerminalShellExecutionStartEvent): void {
    this.ended(terminal);
    const screen = new TerminalScreen({
      size: () => {
        const device = this.devices.get(terminal);
        return device === undefined ? undefined : sizeOf(device);
      },
      // A bundle of its own: windows without an agent in a terminal never load it.
      newEmulator: async (size) => new (await import('./emulator.ts')).Emulator(size),
      isProduct: productNames.test(execution.commandLine.value),
    });
    this.screens.set(terminal, screen);
    void this.follow(screen, execution.read());
  }

  private async follow(screen: TerminalScreen, output: AsyncIterable<string>): Promise<void> {
    for await (const data of output) screen.add(data);
    screen.close();
  }

  private ended(terminal: vscode.Terminal): void {
    this.screens.get(terminal)?.close();
    this.screens.delete(terminal);
  }
}
