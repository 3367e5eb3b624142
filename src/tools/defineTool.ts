import type { z } from 'zod';
import type { Bus } from '../core/bus.ts';
import type { Caller } from '../core/model.ts';

/** Who reads the answer: a model gets small pages, a program gets large ones. */
export type Reader = 'model' | 'program';

export interface ToolContext {
  bus: Bus;
  caller: Caller;
  signal: AbortSignal;
  reader: Reader;
  /** Tells the caller at once what is going on, where it wants to know. */
  progress?: (message: string) => void;
}

/**
 * What a call does to the bus. Hints for clients, confirmation and retry rules follow from it:
 * `reads` changes nothing but read marks, `adds` makes something new, `changes` alters what is there.
 */
export type Effect = 'reads' | 'adds' | 'changes';

export interface Tool<Input extends z.ZodType = z.ZodType, Output extends object = object> {
  name: string;
  title: string;
  effect: Effect;
  /** Read by models; constant, and paid for in every session. */
  about: string;
  input: Input;
  /** Whether clients that load tools lazily should show it from the start. */
  always?: boolean;
  run(input: z.output<Input>, context: ToolContext): Promise<Output> | Output;
  /** The answer as a model reads it. Peer text goes through the envelope. */
  render(output: Output, context: ToolContext): string;
  /** The messages whose text is in the answer. */
  shown?(output: Output): string[];
  /** Whether the call went well but what was asked for did not happen: a model is told that as an error. */
  failed?(output: Output): boolean;
}

export function defineTool<Input extends z.ZodType, Output extends object>(
  tool: Tool<Input, Output>,
): Tool<Input, Output> {
  return tool;
}
