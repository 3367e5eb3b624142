import type { AgentProduct as ProductName } from '../../../scripts/agents.mjs';
import type { AgentRoom } from './agentRoom.ts';
import type { Launch } from './agentRun.ts';
import type { AgentTerminal } from './agentTerminal.ts';
import type { Step } from './modelWire.ts';

/** How a product is told of the bus by hand: a program to start, or an address and a token. */
export type BusServer = { command: string; args: string[] } | { url: string; token: string };

export interface Setup {
  mcp?: BusServer;
  /** Event of the product → command line. */
  hooks?: Record<string, string>;
  /** More of the product's own settings file. */
  settings?: object;
}

export interface Product {
  name: ProductName;
  /** What the bus calls its agents, behind the name of the workspace. */
  agent: string;
  /** Writes the configuration that a person would have. */
  configure(room: AgentRoom, setup: Setup): void;
  headless(room: AgentRoom, prompt: string): Launch;
  interactive(room: AgentRoom, prompt?: string): Launch;
  /** What the model says to run a command of the shell. */
  shell(command: string): Step;
  /** On the screen when the product waits for the person. */
  ready: RegExp;
  /** What it asks its person about the bus at the first start. */
  approve?(terminal: AgentTerminal): Promise<void>;
  /** The person's commands for a new conversation and for a short summary of the old one. */
  commands: { clear: string; compact: string };
}
