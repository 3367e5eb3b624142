import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { chromiumFlags, ensureChromium } from '../../scripts/editor.mjs';
import type { PageEvent, PageRequest, PageStart } from '../../src/protocol/webviewMessages.ts';
import { themes, type Theme } from './themes.ts';
import { Failure, me, type World } from './world.ts';

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const root = join(import.meta.dirname, '..', '..');
const origin = 'https://page.test';

const files: Record<string, { path: string; type: string }> = {
  '/webview.js': { path: 'dist/webview.js', type: 'text/javascript' },
  '/codicon.css': { path: 'dist/codicon.css', type: 'text/css' },
  '/codicon.ttf': { path: 'dist/codicon.ttf', type: 'font/ttf' },
  '/page.css': { path: 'media/page.css', type: 'text/css' },
};

export interface Opening {
  world: World;
  theme?: Theme;
  width?: number;
  height?: number;
  place?: PageStart['place'];
  start?: Partial<PageStart>;
  bodyClass?: string;
  lang?: string;
  reducedMotion?: boolean;
  forcedColors?: boolean;
}

export async function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: await ensureChromium(), args: [...chromiumFlags] });
}

/**
 * The page as VS Code would show it: the shipped bundle and styles under the shipped policy, in a browser. The extension
 * is played by this process, from a bus in memory.
 */
export class HarnessedPage implements AsyncDisposable {
  readonly world: World;
  readonly page: Page;
  /** Every request that the page made of the extension, in order. */
  readonly asked: PageRequest[] = [];
  /** What it tried to load from anywhere else. */
  readonly strayed: string[] = [];
  readonly errors: string[] = [];
  start: PageStart;
  /** Makes a method fail, once or for good. */
  readonly failing = new Map<string, { code: string; message: string; next: string }>();
  /** Milliseconds before an answer. */
  delay = 0;
  state: unknown;
  private readonly context: BrowserContext;

  private constructor(context: BrowserContext, page: Page, opening: Opening) {
    this.context = context;
    this.page = page;
    this.world = opening.world;
    this.start = {
      place: opening.place ?? 'sidebar',
      hub: 'connected',
      paused: false,
      readOnly: false,
      me,
      ...opening.start,
    };
  }

  static async open(browser: Browser, opening: Opening): Promise<HarnessedPage> {
    const context = await browser.newContext({
      viewport: { width: opening.width ?? 320, height: opening.height ?? 720 },
      locale: opening.lang ?? 'en-GB',
      reducedMotion: (opening.reducedMotion ?? true) ? 'reduce' : 'no-preference',
      forcedColors: opening.forcedColors ? 'active' : 'none',
    });
    const page = await context.newPage();
    const harnessed = new HarnessedPage(context, page, opening);
    await harnessed.prepare(opening);
    await page.goto(`${origin}/`);
    return harnessed;
  }

  private async prepare(opening: Opening): Promise<void> {
    const { page } = this;
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
    page.on('dialog', (dialog) => {
      this.errors.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.route('**/*', async (route) => {
      const url = new URL(route.request().url());
      const file = url.origin === origin ? files[url.pathname] : undefined;
      if (url.origin === origin && url.pathname === '/') {
        await route.fulfill({ contentType: 'text/html', body: html(opening) });
      } else if (url.origin === origin && url.pathname === '/theme.css') {
        const theme = (url.searchParams.get('theme') as Theme | null) ?? opening.theme ?? 'dark';
        await route.fulfill({ contentType: 'text/css', body: themes[theme].css });
      } else if (file) {
        await route.fulfill({ contentType: file.type, body: readFileSync(join(root, file.path)) });
      } else {
        this.strayed.push(url.href);
        await route.abort();
      }
    });
    await page.exposeBinding('hostCall', (_source, request: PageRequest) => this.answer(request));
    await page.exposeBinding('hostState', (_source, state: unknown) => {
      this.state = state;
    });
    // Runs before the page's own script, as VS Code's does. The state lives in the tab's session, as VS Code's in the window.
    await page.addInitScript(`window.acquireVsCodeApi = () => ({
      postMessage: (m) => void window.hostCall(m).then((a) => window.postMessage(a, '*')),
      getState: () => JSON.parse(sessionStorage.getItem('state') ?? 'null') ?? undefined,
      setState: (s) => { sessionStorage.setItem('state', JSON.stringify(s)); void window.hostState(s); },
    });`);
    this.world.onEvents = (events) => void this.tell({ type: 'events', events });
  }

  async tell(event: PageEvent): Promise<void> {
    await this.page.evaluate(`window.postMessage(${JSON.stringify(event)}, '*')`);
  }

  /** As when the person changes the theme while the page is open. */
  async setTheme(theme: Theme): Promise<void> {
    const own = Object.values(themes).flatMap(({ bodyClass }) => bodyClass.split(' '));
    await this.page.evaluate(`new Promise((done) => {
      document.body.classList.remove(...${JSON.stringify(own)});
      document.body.classList.add(...${JSON.stringify(themes[theme].bodyClass.split(' '))});
      const link = document.querySelector('link[href^="/theme.css"]');
      link.onload = () => requestAnimationFrame(() => done());
      link.href = '/theme.css?theme=${theme}';
    })`);
  }

  /** What axe-core finds wrong. */
  async violations(...without: string[]): Promise<string[]> {
    const off = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
    await this.page.evaluate(axeSource);
    const found = await this.page
      .evaluate(`axe.run(document, { resultTypes: ['violations'], rules: ${JSON.stringify(off)} }).then(({ violations }) =>
      violations.map(({ id, help, nodes }) => id + ': ' + help + nodes.slice(0, 3).map((n) => '\\n    ' + n.html.slice(0, 200) + '\\n      ' +
        (n.failureSummary ?? '').replace(/\\s+/g, ' ').slice(0, 300)).join('')))`);
    return found as string[];
  }

  async hub(state: PageStart['hub']): Promise<void> {
    this.start = { ...this.start, hub: state };
    await this.tell({ type: 'hub', state });
  }

  countOf(method: string): number {
    return this.asked.filter((request) => request.method === method).length;
  }

  paramsOf(method: string): unknown[] {
    return this.asked.filter((request) => request.method === method).map(({ params }) => params);
  }

  private async answer(request: PageRequest): Promise<unknown> {
    this.asked.push(request);
    if (this.delay > 0) await new Promise((done) => setTimeout(done, this.delay));
    const failure = this.failing.get(request.method);
    if (failure) return { request: request.request, error: failure };
    try {
      return { request: request.request, result: this.run(request) };
    } catch (error) {
      if (error instanceof Failure) return { request: request.request, error: error.shape };
      throw error;
    }
  }

  private run({ method, params }: PageRequest): unknown {
    const { world } = this;
    const given = params as never;
    switch (method) {
      case 'hello':
        return this.start;
      case 'keep':
        return null;
      case 'overview':
        return world.overview(given);
      case 'agents':
        return world.agents;
      case 'reach':
        return world.reachOf((params as { agent: string }).agent);
      case 'tell': {
        const { agent, on } = params as { agent: string; on?: boolean };
        if (on !== undefined) world.telling.set(agent, on);
        return { idle: false, telling: world.telling.get(agent) ?? false };
      }
      case 'typing':
        world.allowTyping(given);
        return null;
      case 'story':
        return world.story(given);
      case 'message':
        return world.message((params as { id: string }).id);
      case 'status':
        return world.status((params as { id: string }).id);
      case 'search':
        return world.search((params as { query: string }).query);
      case 'send':
        return world.send(given);
      case 'seen':
        world.seen((params as { ids: string[] }).ids);
        return null;
      case 'start':
        void this.hub('connected');
        return null;
      case 'pause':
        void this.tell({ type: 'paused', paused: (params as { on: boolean }).on });
        return null;
      case 'release': {
        const message = world.message((params as { id: string }).id);
        for (const fate of message.fates) if (fate.step === 'held') world.receipt(message, fate.agent, 'offered');
        return null;
      }
      case 'unread':
        world.unread((params as { id: string }).id);
        return null;
      case 'ack':
      case 'cancel':
      case 'copy':
      case 'open':
      case 'openTab':
      case 'exportSvg':
        return null;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.close();
  }
}

function html({
  place = 'sidebar',
  theme = 'dark',
  bodyClass = '',
  lang = 'en-GB',
  reducedMotion = true,
}: Opening): string {
  const nonce = 'dGVzdA==';
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${origin}; font-src ${origin}`;
  const classes = [themes[theme].bodyClass, reducedMotion ? 'vscode-reduce-motion' : '', bodyClass].join(' ');
  return `<!DOCTYPE html>
<html lang="${lang}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="/theme.css"><link rel="stylesheet" href="/codicon.css"><link rel="stylesheet" href="/page.css">
<title>Agent Bus</title></head>
<body class="${classes}" data-place="${place}"><script nonce="${nonce}" src="/webview.js"></script></body></html>`;
}
