import { parse } from 'smol-toml';
import type { ConfigFile } from '../products/product.ts';
import { JsonText } from './jsonText.ts';

export interface ServerEntry {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** The server of ours that a file tells its product to start, if it has one. */
export function serverIn(text: string, file: ConfigFile): ServerEntry | undefined {
  const at = file.parts.find(({ kind }) => kind === 'server')?.at;
  if (!at) return undefined;
  let found: unknown = file.format === 'json' ? new JsonText(text).value() : parse(text);
  for (const step of at) found = (found as Record<string, unknown> | undefined)?.[step];
  const { command, args, env } = (found ?? {}) as Partial<ServerEntry>;
  return typeof command === 'string' ? { command, args: args ?? [], env: env ?? {} } : undefined;
}
