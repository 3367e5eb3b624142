import { BusClient } from '../client/busClient.ts';
import type { ToolInput, ToolName, ToolOutput } from '../client/toolTypes.ts';
import { BusError, type ErrorShape } from '../core/errors.ts';
import { version } from '../hub/version.ts';
import type { Invocation } from './command.ts';
import { print, printJson } from './print.ts';

const personName = 'person';

export interface Answer<Name extends ToolName> {
  data: ToolOutput<Name>;
  /** The answer as a model reads it, with peer text in its fence; only where a model reads. */
  text: string | undefined;
  shown: string[];
}

export interface SessionOptions {
  /** Start a hub if none is running. */
  start?: boolean;
  reconnect?: boolean;
}

/** Who speaks, on which bus, and for whom the output is. */
export type Speaker = Pick<Invocation, 'as' | 'home' | 'json'>;

/**
 * One command's conversation with the hub. It knows who reads the output: a program (--json) gets the data byte for
 * byte, an agent (--as NAME) gets what its model may read, the person gets lines made for people.
 */
export class Session {
  readonly client: BusClient;
  readonly reader: 'program' | 'model' | 'person';

  private constructor(client: BusClient, json: boolean) {
    this.client = client;
    this.reader = json ? 'program' : client.agent === personName ? 'person' : 'model';
  }

  static async open({ as, home, json }: Speaker, options: SessionOptions = {}): Promise<Session> {
    const client = await BusClient.connect({
      home,
      version,
      via: 'cli',
      // A command that comes and goes is nobody being there.
      passing: true,
      start: options.start ?? true,
      reconnect: options.reconnect ?? false,
      ...(as !== undefined && { as }),
    });
    return new Session(client, json);
  }

  async ask<Name extends ToolName>(tool: Name, args: ToolInput<Name>): Promise<Answer<Name>> {
    if (this.reader !== 'model') return { ...(await this.client.call(tool, args)), text: undefined };
    const { text, structured, isError, shown } = await this.client.callForModel(tool, args);
    // A request that failed is an error to a model as well, and yet the whole answer.
    if (isError && structured['error']) throw thrown(structured['error'] as ErrorShape);
    return { data: structured as ToolOutput<Name>, text, shown };
  }

  /** Prints an answer for its reader, and only then tells the hub what was shown. */
  async tell<Name extends ToolName>(
    answer: Answer<Name>,
    forPerson: (data: ToolOutput<Name>) => string,
    options: { peek?: boolean | undefined } = {},
  ): Promise<void> {
    if (this.reader === 'program') await printJson(answer.data);
    else await print(`${answer.text ?? forPerson(answer.data)}\n`);
    if (!options.peek) await this.markShown(answer.shown);
  }

  async markShown(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    this.client.shown(ids);
    // A notification has no answer, and this process is about to end: when a request after it is answered, it is there.
    await this.client.request('presence', { state: 'idle' });
  }
}

/** Most commands are this: one call, one answer. */
export async function askAndTell<Name extends ToolName>(
  speaker: Speaker,
  tool: Name,
  args: ToolInput<Name>,
  forPerson: (data: ToolOutput<Name>) => string,
): Promise<ToolOutput<Name>> {
  const session = await Session.open(speaker, { reconnect: true });
  const answer = await session.ask(tool, args);
  await session.tell(answer, forPerson);
  return answer.data;
}

function thrown({ code, message, next }: ErrorShape): BusError {
  return new BusError(code, message, { next });
}
