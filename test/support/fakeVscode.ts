/**
 * As much of the `vscode` module as the extension's parts need to be loaded outside of the editor. Import this first;
 * what the editor itself does is tested in a real one, in test/vscode.
 */
import { registerHooks } from 'node:module';

const source = `
export class EventEmitter {
  listeners = new Set();
  event = (listener) => (this.listeners.add(listener), { dispose: () => this.listeners.delete(listener) });
  fire(value) { for (const listener of [...this.listeners]) listener(value); }
  dispose() { this.listeners.clear(); }
}
export class Uri {
  constructor(path, scheme = 'file', query = '') { Object.assign(this, { path, scheme, query, fsPath: path }); }
  static parse(text) { return new Uri(text); }
  static file(path) { return new Uri(path); }
  with({ scheme = this.scheme, query = this.query }) { return new Uri(this.path, scheme, query); }
  toString() { return this.scheme + ':' + this.path + (this.query && '?' + this.query); }
  static joinPath(uri, ...parts) { return new Uri([uri.path, ...parts].join('/')); }
}
export class Position {
  constructor(line, character) { Object.assign(this, { line, character }); }
}
export class Range {
  constructor(start, end) { Object.assign(this, { start, end }); }
}
export const QuickPickItemKind = { Separator: -1 };
export const workspace = { isTrusted: true, asRelativePath: (uri) => uri.path };
export const window = {};
export const commands = {};
export const env = {};
export const ConfigurationTarget = { Global: 1 };
export const ProgressLocation = { Notification: 15 };
`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'vscode'
      ? { url: `data:text/javascript,${encodeURIComponent(source)}`, format: 'module', shortCircuit: true }
      : next(specifier, context),
});
