import type { BusHome } from '../hub/home.ts';
import type { ExitCode } from './exitCode.ts';

export interface Option {
  type: 'boolean' | 'string';
  short?: string;
  multiple?: boolean;
  /** What stands for the value in the help. */
  value?: string;
  about: string;
}

export type Options = Record<string, Option>;
type Value<O extends Option> = O['type'] extends 'boolean' ? boolean : O extends { multiple: true } ? string[] : string;

/** One call of a command, with everything that came from outside. */
export interface Invocation<O extends Options = Options> {
  values: { readonly [Name in keyof O]?: Value<O[Name]> };
  args: readonly string[];
  /** Arguments from this place on came after `--`: they mean nothing but themselves. */
  literalFrom: number;
  json: boolean;
  /** Whom to speak as; the person if nobody is named. */
  as: string | undefined;
  home: BusHome;
}

export const groups = { hub: 'The hub', mail: 'Messages', people: 'Who is here', care: 'Care' } as const;

/** A command declares everything about itself: parsing and help are derived from it. */
export interface Command<O extends Options = Options> {
  name: string;
  group: keyof typeof groups;
  /** One line for the list of commands. */
  about: string;
  /** The arguments as the help shows them. */
  synopsis: string;
  /** Names of the arguments that have to be there, in order; `most` is how many there may be. */
  needs: readonly string[];
  most: number;
  options: O;
  details?: string;
  examples: readonly [line: string, meaning: string][];
  run(invocation: Invocation<O>): Promise<ExitCode>;
}

export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command;
}

export const globalOptions = {
  as: { type: 'string', value: 'NAME', about: 'speak as that agent (without it: as the person)' },
  json: { type: 'boolean', about: 'one JSON document on stdout; errors as {"error":{code,message,next}} on stderr' },
  help: { type: 'boolean', short: 'h', about: 'how this command is used' },
  version: { type: 'boolean', short: 'V', about: 'the version of this program' },
} as const satisfies Options;
