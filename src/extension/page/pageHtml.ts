import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { PageStart } from '../../protocol/webviewMessages.ts';

/** The only folders from which a page may load anything. */
export function pageRoots(extension: vscode.Uri): vscode.Uri[] {
  return [vscode.Uri.joinPath(extension, 'dist'), vscode.Uri.joinPath(extension, 'media')];
}

/**
 * The frame of every page. Nothing comes from the network, one script runs, known by its nonce; styles and the icon font
 * come from the extension. Everything visible is made by that script.
 */
export function pageHtml(webview: vscode.Webview, extension: vscode.Uri, place: PageStart['place']): string {
  const nonce = randomBytes(18).toString('base64');
  const own = (...path: string[]): string => webview.asWebviewUri(vscode.Uri.joinPath(extension, ...path)).toString();
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
  ].join('; ');
  const language = vscode.env.language.replace(/[^\w-]/g, '');
  return `<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${policy}">
${styleSheets.map((path) => `<link rel="stylesheet" href="${own(...path)}">`).join('\n')}
<title>Agent Bus</title>
</head>
<body data-place="${place}"><script nonce="${nonce}" src="${own('dist', 'webview.js')}"></script></body>
</html>`;
}

const styleSheets = [
  ['dist', 'codicon.css'],
  ['media', 'page.css'],
];
