/** What a tool call comes back with, in the two shapes that leave the hub. */

import type { Route } from '../core/model.ts';

/** For a model: peer text has gone through the envelope. */
export interface ModelAnswer {
  text: string;
  structured: Record<string, unknown>;
  isError: boolean;
  /** Ids of the messages whose full text is in `text`. Report them as shown once the answer has been handed over. */
  shown: string[];
  /** By which way they come to the reader, for their receipts. */
  route: Route;
}

/** For a program: the data as it is, byte for byte. Errors are thrown as BusError. */
export interface ProgramAnswer {
  data: Record<string, unknown>;
  shown: string[];
}

export interface CallOptions {
  /** Aborted when the caller is gone or has cancelled. */
  signal: AbortSignal;
  /** Tells the caller at once what is going on, where it wants to know. */
  progress?: (message: string) => void;
}

/** A tool as a client of the protocol sees it: JSON Schema in, annotations derived from its effect. */
export interface ToolListing {
  name: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
  _meta?: Record<string, unknown>;
}
