import * as vscode from 'vscode';
import type { DoorView } from '../protocol/doorMessages.ts';
import type { HubStatus } from '../protocol/messages.ts';

/** The status of the hub as a text that can be read, searched and copied into a bug report, but not edited. */
export class StatusDocument implements vscode.TextDocumentContentProvider, vscode.Disposable {
  static readonly scheme = 'agent-bus-status';
  private static text = '';
  private static readonly changes = new vscode.EventEmitter<vscode.Uri>();
  private static readonly uri = vscode.Uri.parse(`${StatusDocument.scheme}:Agent Bus Status`);
  readonly onDidChange = StatusDocument.changes.event;

  static show(text: string): void {
    StatusDocument.text = text;
    StatusDocument.changes.fire(StatusDocument.uri);
    void vscode.window.showTextDocument(StatusDocument.uri, { preview: true });
  }

  provideTextDocumentContent(): string {
    return StatusDocument.text;
  }

  dispose(): void {
    StatusDocument.changes.dispose();
  }
}

export function statusText(status: HubStatus, home: string | undefined): string {
  const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MB`;
  const health = typeof status.health === 'string' ? status.health : `${status.health.message} ${status.health.next}`;
  const rows: [string, string][] = [
    ['Hub', `version ${status.version}, process ${status.pid}`],
    ['Running since', `${new Date(status.startedAt).toLocaleString()} (${Math.round(status.uptimeSeconds / 60)} min)`],
    ['Health', health],
    ['Deliveries', status.paused ? 'paused' : 'on'],
    ['This window', home ?? 'has no agent of its own'],
    ...status.doors.filter(({ on }) => on).map((door): [string, string] => [`Door for ${door.door}`, doorText(door)]),
    ['', ''],
    ['Agents', String(status.agents)],
    ['Conversations', String(status.conversations)],
    ['Messages', String(status.messages)],
    ['Pending requests', String(status.pendingRequests)],
    ['', ''],
    ['MCP address', status.mcpUrl],
    ['Data folder', status.home],
    ['Database', megabytes(status.databaseBytes)],
    ['Log', megabytes(status.logBytes)],
    ['Memory', megabytes(status.memoryBytes)],
    ['Connections', `${status.connections.rpc} clients, ${status.connections.mcpSessions} MCP sessions`],
    ['Slowest commit', `${status.slowestCommitMs.toFixed(1)} ms of ${status.commits}`],
  ];
  return rows.map(([name, value]) => (name === '' ? '' : `${`${name}:`.padEnd(19)}${value}`)).join('\n') + '\n';
}

function doorText({ open, bind, port, trouble }: DoorView): string {
  const why = trouble ? `: ${trouble.message} ${trouble.next}` : '';
  return `${open ? 'open' : 'not open'} at ${bind}:${port}${why}`;
}
