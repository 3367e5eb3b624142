/** What `connect` has to know about an agent's product. Each product is one file of data beside this one. */
import type { HookParams, HookResult } from '../../protocol/reachMessages.ts';
import type { Launch } from '../launch.ts';

export type Scope = 'user' | 'project';

/** Where everything is for one call of `connect`. */
export interface Place {
  /** The person's home folder. */
  home: string;
  /** The project's folder. */
  project: string;
  env: Readonly<Record<string, string | undefined>>;
  launch: Launch;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** One thing of ours in a file of the product. */
export interface Part {
  /**
   * `server`: the value of a key that is ours. `hook`: an element of a list that others have theirs in, too. `setting`: a
   * key that the file can't do without and that may be anybody's. `switch`: a setting of the product's that is the
   * person's to decide; where they have let us, it is put back to what it was. `file`: all of the file.
   */
  kind: 'server' | 'hook' | 'setting' | 'switch' | 'file';
  at: readonly string[];
  value: Json;
  /** Of a switch that we have switched: what it was, if it was anything. */
  before?: Json;
}

export interface ConfigFile {
  path: string;
  /** `text`: one of ours from its first byte to its last. */
  format: 'json' | 'toml' | 'text';
  parts: readonly Part[];
}

/** How a product's hooks speak: its names for the events, its fields on stdin, its JSON on stdout. */
export interface HookForm {
  events: Readonly<Record<string, HookParams['event']>>;
  fields: {
    chat: string;
    folder?: string;
    tool?: string;
    toolUse?: string;
    prompt?: string;
    /** Set when the turn goes on because a hook asked for it. */
    again?: string;
    /** Set when it is not the session's own model that is at work, but a helper which that has started. */
    helper?: string;
    /** A field that this product never sends: where it is, another program runs the product's hooks. */
    foreign?: string;
  };
  /** The variable with the project's folder, which a hook's own working directory may have left. */
  folderVariable?: string;
  /** The events whose answer reaches the model. */
  heard: readonly HookParams['event'][];
  answer(event: string, result: Pick<HookResult, 'context' | 'block'>): object | undefined;
  /** What a session is told at its start besides who it is, where there is something. */
  advice?(session: { chat: string; workspace: string; env: Place['env'] }): string | undefined;
}

/** By what the product tells its MCP server which session it belongs to. */
export interface SessionMark {
  variable?: string;
  /** It starts its server anew for another session in the same process, and tells only later that the former one is over. */
  restarts?: true;
  meta?: string;
}

export const productNames = ['claude', 'codex', 'gemini', 'copilot', 'cursor', 'vscode'] as const;
export type ProductName = (typeof productNames)[number];

export interface Product {
  /** As people type it. */
  name: ProductName;
  title: string;
  /** What its agents are on the bus, and the end of their names. */
  agent: string;
  /** What it calls itself as an MCP client. */
  client: string;
  /** Its programs on the PATH. */
  programs: readonly string[];
  /** A folder that it makes when it is first used. */
  folder(place: Place): string;
  files(place: Place, scope: Scope, hooks: boolean): ConfigFile[];
  /**
   * What the person has to do there, after the files are written.
   * @param isOn whether its switches are on, whoever has done that
   */
  remains(scope: Scope, hooks: boolean, isOn: boolean): string[];
  /** What its switches are for, as a question to the person; without one it has none. */
  experimental?: string;
  /** What the person has to do before it runs any hook. */
  review?: string;
  /** What else brings its hooks to run, where they are set up and yet were not heard. */
  unheard?: string;
  hooks?: HookForm;
  session?: SessionMark;
}

export const serverName = 'agent-bus';
