/** JSON-RPC 2.0 as text: what a message is, and how one is written. */

export type Id = string | number;

export interface Message {
  jsonrpc: '2.0';
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: unknown;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

export function isMessage(value: unknown): value is Message {
  return isObject(value) && value['jsonrpc'] === '2.0';
}

export function isId(value: unknown): value is Id {
  return typeof value === 'string' || Number.isFinite(value);
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && typeof value['then'] === 'function';
}

/** What JSON has no word for, such as undefined, is null. */
export function stringify(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

export function idJson(id: Id | null): string | number {
  return typeof id === 'string' ? JSON.stringify(id) : (id ?? 'null');
}

export function callJson(id: string, method: string, params: unknown): string {
  const rest = params === undefined ? '}' : `,"params":${stringify(params)}}`;
  return `{"jsonrpc":"2.0",${id}"method":${JSON.stringify(method)}${rest}`;
}
