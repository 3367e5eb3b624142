import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { BusClient, type HubRequest } from '../client/busClient.ts';
import type { Installation } from '../connect/installation.ts';
import { BusError } from '../core/errors.ts';
import type { AgentView, Presence } from '../core/model.ts';
import type { HubEvent } from '../protocol/messages.ts';
import type { ObserveParams, Rung, WakeParams } from '../protocol/reachMessages.ts';
import { AgentTokens } from './window/agentTokens.ts';
import { ChatDoor } from './window/chatDoor.ts';
import { ChatFiles } from './window/chatFiles.ts';
import { chatFolder } from './window/contract.ts';
import { equipTerminals } from './window/equipTerminals.ts';
import { HookEnvironment } from './window/hookEnvironment.ts';
import { McpOffer } from './window/mcpOffer.ts';
import { PersonActivity } from './window/personActivity.ts';
import { askPerson } from './window/questions.ts';
import { TerminalScreens } from './window/terminals/terminalScreens.ts';
import { Typist } from './window/terminals/typist.ts';
import { showWaiting } from './window/waitingNotice.ts';
import { Waker } from './window/waker.ts';
import { workspacePath } from './window/workspacePath.ts';

export interface WindowHomeParts {
  version: string;
  output: vscode.LogOutputChannel;
  /** The stable copy of the programs, made once per window. */
  installed: () => Promise<Installation>;
}

/** What puts a message in front of this window's agents. */
interface Hands {
  waker: Waker;
  typist: Typist;
  terminals: TerminalScreens;
}

/** How long to wait after each vain attempt; whether somebody else has started a hub is cheap to see. */
const retryMs = [2_000, 10_000, 60_000] as const;
const lookMs = 2_000;

/**
 * This window as an agent's home: the agent that Copilot is in this workspace, the tools it gets, and the hands that put
 * a message in front of its chats. Without a folder, or in one that is not trusted, there is nobody at home.
 */
export class WindowHome implements vscode.Disposable {
  private readonly context: vscode.ExtensionContext;
  private readonly version: string;
  private readonly output: vscode.LogOutputChannel;
  private readonly installed: () => Promise<Installation>;
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[] = [this.changes];
  private readonly window = randomBytes(9).toString('base64url');
  private readonly offer: McpOffer;
  private readonly tokens: AgentTokens;
  private installation: Installation | undefined;
  private client: BusClient | undefined;
  private connected = false;
  private rungs: readonly Rung[] = [];
  private isPaused = false;
  private closed = false;
  readonly onChange = this.changes.event;

  constructor(context: vscode.ExtensionContext, { version, output, installed }: WindowHomeParts) {
    this.context = context;
    this.version = version;
    this.output = output;
    this.installed = installed;
    this.offer = new McpOffer(version, () => this.client?.request('status', {}) ?? Promise.resolve());
    this.tokens = new AgentTokens(context.secrets);
  }

  /** Who Copilot is in this window, once that is known. */
  get agent(): string | undefined {
    return this.client?.agent;
  }

  get paused(): boolean {
    return this.isPaused;
  }

  /** Never throws and never blocks: everything that takes time happens behind it. */
  start(): void {
    this.disposables.push(this.offer, vscode.lm.registerMcpServerDefinitionProvider(McpOffer.id, this.offer));
    const workspace = workspacePath();
    if (workspace !== undefined && vscode.workspace.isTrusted) return this.settle(workspace);
    this.context.environmentVariableCollection.clear();
    if (workspace === undefined) return;
    this.disposables.push(vscode.workspace.onDidGrantWorkspaceTrust(() => this.settle(workspace)));
  }

  dispose(): void {
    this.closed = true;
    this.client?.close();
    for (const one of this.disposables.splice(0).reverse()) one.dispose();
  }

  private settle(workspace: string): void {
    const person = new PersonActivity();
    this.disposables.push(person, new HookEnvironment(this.window, workspace));
    const storage = this.context.storageUri?.fsPath;
    const files = storage && new ChatFiles(join(dirname(storage), chatFolder), (seen) => this.observe(seen));
    if (files) this.disposables.push(files);
    const waker = new Waker({
      chat: new ChatDoor(),
      person,
      presence: (params) => this.presence(params),
      isAsking: () => (files ? files.isAsking : false),
      notify: (params, deliver) => void this.sender(params).then((sender) => showWaiting(params, sender, deliver)),
      log: (line) => this.output.info(line),
    });
    const terminals = new TerminalScreens();
    const typist = new Typist({ find: (pid) => terminals.find(pid), log: (line) => this.output.info(line) });
    this.disposables.push(terminals);
    this.offer.expect();
    void this.moveIn(workspace, { waker, typist, terminals });
  }

  /** Until it works: a hub that cannot start now may be able to later. */
  private async moveIn(workspace: string, hands: Hands): Promise<void> {
    for (let attempt = 0; !this.closed; attempt++) {
      try {
        this.installation ??= await this.install();
        await this.connect(this.installation, workspace, hands);
        return;
      } catch (error) {
        this.offer.set(undefined);
        const isWaiting = !mayStart() && error instanceof BusError && error.code === 'hub-unavailable';
        if (!isWaiting) this.complain('This window is not on the bus', error);
        const delay = isWaiting ? lookMs : retryMs[Math.min(attempt, retryMs.length - 1)];
        await new Promise((resolve) => setTimeout(resolve, delay).unref());
      }
    }
  }

  private async install(): Promise<Installation> {
    const installation = await this.installed();
    equipTerminals(this.context.environmentVariableCollection, installation.bin, process.env['AGENT_BUS_HOME']);
    return installation;
  }

  private async connect({ home, hubScript }: Installation, workspace: string, hands: Hands): Promise<void> {
    const { waker, typist, terminals } = hands;
    const arrived = Promise.withResolvers<void>();
    const client = await BusClient.connect({
      home,
      hubScript,
      via: 'rpc',
      start: mayStart(),
      attach: { workspace, product: 'copilot' },
      reconnect: true,
      version: this.version,
      serves: {
        wake: async (params, signal) => {
          await arrived.promise;
          return params.by === 'typing' ? typist.wake(params, signal) : waker.wake(params, signal);
        },
        ask: (params) => askPerson(params),
      },
      // The hub does not remember who carries whom.
      onConnected: async (request) => {
        await this.carry(request, waker);
        await request('terminals', { pids: terminals.pids() });
      },
    });
    if (this.closed) return client.close();
    this.client = client;
    this.connected = true;
    arrived.resolve();
    client.onStateChange = (state) => {
      this.connected = state === 'connected';
      this.changes.fire();
      if (this.connected) void this.offerTools(client);
    };
    this.disposables.push(
      // Copilot may be installed, enabled or disabled at any time.
      vscode.extensions.onDidChange(() => {
        if (this.connected) void this.carryAnew(client, waker);
      }),
      // The hub finds out by them which agents are in a terminal of this window.
      terminals.onChange(() => {
        const tell = client.request('terminals', { pids: terminals.pids() });
        tell.catch((error: unknown) => this.output.debug(`Terminals: ${String(error)}`));
      }),
    );
    await this.listen(client);
    await this.offerTools(client);
  }

  private async carry(request: HubRequest, waker: Waker): Promise<void> {
    this.rungs = await waker.rungs();
    this.setPaused((await request('carry', { window: this.window, rungs: [...this.rungs] })).paused);
  }

  private async carryAnew(client: BusClient, waker: Waker): Promise<void> {
    if (isDeepStrictEqual(await waker.rungs(), this.rungs)) return;
    await this.carry(client.request.bind(client), waker).catch((error: unknown) => this.complain('Carrying', error));
  }

  private async listen(client: BusClient): Promise<void> {
    const onEvent = (event: HubEvent): void => {
      if (event.type === 'paused') this.setPaused(event.paused);
    };
    // From here on the client comes back by itself, and what fails now is done again then.
    await client.subscribe({ onEvent }).catch((error: unknown) => this.complain('Events', error));
  }

  /** The hub may have another address now, or another database. */
  private async offerTools(client: BusClient): Promise<void> {
    try {
      const token = await this.tokens.tokenFor(client, this.installation?.home, this.version);
      const url = client.hub?.mcpUrl;
      if (url !== undefined && !this.closed) this.offer.set({ url, token });
      this.output.info(`This window is ${client.agent} on the bus.`);
    } catch (error) {
      this.complain('The tools of the bus', error);
    }
    this.changes.fire();
  }

  private observe(seen: ObserveParams): void {
    // Nobody to tell is no reason to start a hub that was stopped.
    if (!this.connected) return;
    this.client
      ?.request('observe', seen)
      .catch((error: unknown) => this.output.debug(`A chat’s state: ${String(error)}`));
  }

  private async presence({ agent, chat }: WakeParams): Promise<Presence> {
    if (!this.client) return 'offline';
    const { data } = await this.client.call('agents', { query: agent, limit: 100 });
    const others = chat === undefined ? await this.housemates(data.you) : data.agents;
    const states = [data.you, ...others]
      .filter(({ name }) => chat === undefined || name === agent)
      .map(({ presence }) => presence);
    return (['waiting', 'working', 'idle'] as const).find((state) => states.includes(state)) ?? 'offline';
  }

  /** The other chats of Copilot in this workspace. */
  private async housemates({ workspace, product }: AgentView): Promise<AgentView[]> {
    const found = await this.client?.call('agents', { query: workspace ?? '', online: true, limit: 100 });
    return found?.data.agents.filter((one) => one.workspace === workspace && one.product === product) ?? [];
  }

  private async sender({ ids: [first] }: WakeParams): Promise<string | undefined> {
    if (first === undefined) return undefined;
    try {
      return (await this.client?.request('message', { id: first }))?.from;
    } catch {
      return undefined;
    }
  }

  private setPaused(paused: boolean): void {
    if (this.isPaused === paused) return;
    this.isPaused = paused;
    this.changes.fire();
  }

  private complain(what: string, error: unknown): void {
    if (this.closed) return;
    this.output.warn(`${what}: ${error instanceof BusError ? `${error.message} ${error.next}` : String(error)}`);
  }
}

function mayStart(): boolean {
  return vscode.workspace.getConfiguration('agentBus').get<boolean>('autoStart', true);
}
