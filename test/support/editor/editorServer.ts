/** A real VS Code with the extension installed as a user would, and a browser whose pages are its windows. All of it is thrown away. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { chromium, type Browser, type BrowserContext } from 'playwright-core';
import { chromiumFlags } from '../../../scripts/editor.mjs';
import { endHub, hubsOf, until } from '../hubProcess.ts';
import { editorPatienceMs, editorTools, type EditorTools } from './editorTools.ts';
import { EditorWindow } from './editorWindow.ts';
import { extensionPackage, helperPackage } from './extensionPackage.ts';
import { ScriptedModel } from './scriptedModel.ts';

export interface EditorOptions {
  /** Settings of the user, on top of those that keep a test quiet. */
  settings?: Record<string, unknown>;
  /** Packages to install instead of the extension under test. */
  extensions?: readonly string[];
  env?: Record<string, string>;
  /** The data folder of a bus that is there already; whoever made it ends its hub. */
  busHome?: string;
  viewport?: { width: number; height: number };
  /** Fills the data folder of the bus before anything runs. */
  prepare?: (busHome: string) => Promise<unknown>;
}

const quiet = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'chat.tips.enabled': false,
  'chat.byokUtilityModelDefault': 'none',
};

export class EditorServer {
  readonly model: ScriptedModel;
  /** The data folder of the bus that all windows share. */
  readonly busHome: string;
  readonly windows: EditorWindow[] = [];
  /** Where extension hosts say how they can be spoken to. */
  readonly channel: string;
  readonly folder: string;
  /** What the server printed. */
  output = '';
  private readonly options: EditorOptions;
  private url: string | undefined;
  private child: ChildProcess | undefined;
  private browser: Browser | undefined;
  private context: BrowserContext | undefined;

  private constructor(model: ScriptedModel, options: EditorOptions) {
    this.model = model;
    this.options = options;
    this.folder = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'agent-bus-editor-'));
    this.busHome = options.busHome ?? this.made('bus');
    this.channel = this.made('channel');
  }

  static async start(options: EditorOptions = {}): Promise<EditorServer> {
    const server = new EditorServer(await ScriptedModel.start(), options);
    atEnd.add(server);
    try {
      await server.run(await editorTools());
    } catch (error) {
      await server.dispose();
      throw error;
    }
    return server;
  }

  /** A window on a folder of this name, ready for use. */
  async open(name: string): Promise<EditorWindow> {
    const folder = this.made('work', name);
    if (!this.context || !this.url) throw new Error('the editor does not run');
    const window = new EditorWindow(await this.context.newPage(), folder, this);
    this.windows.push(window);
    await window.goto(`${this.url}/?folder=${encodeURIComponent(folder)}`);
    return window;
  }

  /** Every step, even if one fails: nothing of it may outlive the test. */
  async dispose(): Promise<void> {
    atEnd.delete(this);
    await this.browser?.close().catch(() => undefined);
    await this.end();
    for (const pid of this.ownHubs()) await endHub(pid, this.busHome).catch(() => undefined);
    await this.model.close().catch(() => undefined);
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private async run({ entry, node, chromium: executablePath }: EditorTools): Promise<void> {
    await this.options.prepare?.(this.busHome);
    const user = this.made('user', 'User');
    fs.writeFileSync(join(user, 'settings.json'), JSON.stringify({ ...quiet, ...this.options.settings }));
    fs.writeFileSync(join(user, 'chatLanguageModels.json'), JSON.stringify([this.modelEntry()]));
    const packages = this.options.extensions ?? [await extensionPackage()];
    const all = [...packages, await helperPackage(this.folder)];
    await this.editor(entry, node, ...all.flatMap((file) => ['--install-extension', file]));

    const flags = ['--auth', 'none', '--bind-addr', '127.0.0.1:0', '--disable-telemetry', '--disable-update-check'];
    this.child = this.spawn(entry, node, [...flags, '--disable-workspace-trust']);
    const child = this.child;
    const address = () => {
      if (child.exitCode !== null) throw new Error(`the editor ended with ${child.exitCode}\n${this.output}`);
      return /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(this.output)?.[1];
    };
    this.url = await until('the editor listens', address, editorPatienceMs);
    this.browser = await chromium.launch({ executablePath, args: chromiumFlags });
    const viewport = this.options.viewport ?? { width: 1300, height: 850 };
    this.context = await this.browser.newContext({ viewport, reducedMotion: 'reduce' });
  }

  private async editor(entry: string, node: string, ...args: string[]): Promise<void> {
    const child = this.spawn(entry, node, args);
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`code-server ended with ${code}\n${this.output}`);
  }

  /** In a group of its own, so that its extension hosts end with it. */
  private spawn(entry: string, node: string, args: readonly string[]): ChildProcess {
    const places = ['--user-data-dir', join(this.folder, 'user'), '--extensions-dir', this.made('extensions')];
    const child = spawn(node, [entry, ...places, ...args], {
      env: this.environment(node),
      cwd: this.folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    return child;
  }

  private environment(node: string): Record<string, string> {
    return {
      PATH: [dirname(node), process.env['PATH'] ?? ''].join(delimiter),
      HOME: this.made('home'),
      LANG: 'C.UTF-8',
      TMPDIR: tmpdir(),
      AGENT_BUS_HOME: this.busHome,
      AGENT_BUS_TEST_CHANNEL: this.channel,
      ...this.options.env,
    };
  }

  private modelEntry(): object {
    const limits = { maxInputTokens: 100_000, maxOutputTokens: 4_000 };
    const model = {
      id: 'scripted',
      name: 'Scripted',
      url: this.model.url,
      toolCalling: true,
      vision: false,
      ...limits,
    };
    return { vendor: 'customendpoint', name: 'Local', apiKey: 'none', apiType: 'chat-completions', models: [model] };
  }

  /** For the last moment of this process, when nothing can be waited for. */
  kill(): void {
    killGroup(this.child, 'SIGKILL');
    for (const pid of this.ownHubs()) process.kill(pid, 'SIGKILL');
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  private ownHubs(): number[] {
    return this.options.busHome === undefined ? hubsOf(this.busHome) : [];
  }

  private async end(): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    killGroup(child, 'SIGTERM');
    const late = setTimeout(() => killGroup(child, 'SIGKILL'), 5_000);
    await exited;
    clearTimeout(late);
    // Extension hosts that have not heard of it.
    killGroup(child, 'SIGKILL');
  }

  private made(...parts: string[]): string {
    const path = join(this.folder, ...parts);
    fs.mkdirSync(path, { recursive: true });
    return path;
  }
}

function killGroup(child: ChildProcess | undefined, signal: NodeJS.Signals): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nobody is left.
  }
}

/** An editor is too big to be left behind by a test that was broken off. */
const atEnd = new Set<EditorServer>();
process.on('exit', () => {
  for (const server of atEnd) server.kill();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
