import { createHash } from 'node:crypto';
import * as vscode from 'vscode';

export interface McpAccess {
  url: string;
  token: string;
}

/** So long a first chat message may wait for the hub. */
const patienceMs = 10_000;

/**
 * The bus as the one MCP server that this window offers to its chats. Address and token are in the definition itself,
 * since sessions outside the extension host copy it as it is. The version is made of them: the same access is the same
 * definition, also after a reload, and another one is noticed.
 */
export class McpOffer implements vscode.McpServerDefinitionProvider, vscode.Disposable {
  static readonly id = 'agentBus.mcp';
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly version: string;
  private access: McpAccess | undefined;
  private waiting: (() => void)[] = [];
  private expected = false;
  /** Makes sure that the hub is there; a server is about to be contacted. */
  private readonly revive: () => Promise<unknown>;
  readonly onDidChangeMcpServerDefinitions = this.changes.event;

  constructor(version: string, revive: () => Promise<unknown>) {
    this.version = version;
    this.revive = revive;
  }

  /** An access is on its way: whoever asks meanwhile waits for it. */
  expect(): void {
    this.expected = true;
  }

  set(access: McpAccess | undefined): void {
    const same = access?.url === this.access?.url && access?.token === this.access?.token;
    this.access = access;
    this.expected = false;
    for (const go of this.waiting.splice(0)) go();
    if (!same) this.changes.fire();
  }

  async provideMcpServerDefinitions(cancel: vscode.CancellationToken): Promise<vscode.McpHttpServerDefinition[]> {
    if (!this.access && this.expected) await this.arrival(cancel);
    const definition = this.definition();
    return definition ? [definition] : [];
  }

  /** Called each time before a connection is made, so a hub that went to rest is up by the time it is needed. */
  async resolveMcpServerDefinition(server: vscode.McpHttpServerDefinition): Promise<vscode.McpHttpServerDefinition> {
    await Promise.race([this.revive(), pause(patienceMs)]).catch(() => undefined);
    return this.definition() ?? server;
  }

  dispose(): void {
    for (const go of this.waiting.splice(0)) go();
    this.changes.dispose();
  }

  private definition(): vscode.McpHttpServerDefinition | undefined {
    if (!this.access) return undefined;
    const { url, token } = this.access;
    const mark = createHash('sha256').update(`${url}\n${token}`).digest('hex').slice(0, 8);
    const headers = { Authorization: `Bearer ${token}` };
    return new vscode.McpHttpServerDefinition('Agent Bus', vscode.Uri.parse(url), headers, `${this.version}+${mark}`);
  }

  private arrival(cancel: vscode.CancellationToken): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, patienceMs);
      const go = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.waiting.push(go);
      cancel.onCancellationRequested(go);
    });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
