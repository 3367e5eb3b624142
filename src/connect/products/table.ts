import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import type { Product, ProductName } from './product.ts';
import { vscode } from './vscode.ts';

export const products: Readonly<Record<ProductName, Product>> = { claude, codex, gemini, copilot, cursor, vscode };

export function productNamed(name: string): Product | undefined {
  return Object.hasOwn(products, name) ? products[name as ProductName] : undefined;
}

/** By what its agents are called on the bus. */
export function productOfAgent(agent: string): Product | undefined {
  return Object.values(products).find((product) => product.agent === agent);
}
