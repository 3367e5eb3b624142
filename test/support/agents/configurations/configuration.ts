import type { Product } from '../agentProduct.ts';
import type { AgentRoom } from '../agentRoom.ts';
import type { Launch } from '../agentRun.ts';

/** The files of one product as people have them, in every form that this product itself was seen to bear. */
export interface Configuration {
  product: Product;
  /** What somebody has who has used the product for a while, by path below the home folder. */
  full(room: AgentRoom, others: Others): Record<string, string>;
  /** Files that the product could not read either, one at a time. */
  broken: readonly { path: string; text: string; line: number }[];
  /** A turn where not one file of the product is there: what it has to know is said in the call. */
  bare(room: AgentRoom, prompt: string): Launch;
  /** The product lists the MCP servers that it has found. */
  list(room: AgentRoom): Launch;
  /** How a server that was found, and works where the product tries it, stands in that list. */
  listed(name: string): RegExp;
}

/** What is in the full files besides the bus. */
export interface Others {
  /** A program that is an MCP server. */
  server: { command: string; args: string[] };
  /** A command line for a hook, which leaves a trace where it runs. */
  hook: string;
}

export function text(...lines: string[]): string {
  return lines.join('\n');
}

export function withCarriageReturns(lines: string): string {
  return lines.replaceAll('\n', '\r\n');
}
