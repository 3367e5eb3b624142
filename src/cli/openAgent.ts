import { BusError } from '../core/errors.ts';
import type { OpenResult } from '../protocol/doorMessages.ts';
import { commandLine } from './commandLine.ts';
import { ExitCode } from './exitCode.ts';
import { printJson, printLine } from './print.ts';
import { Session, type Speaker } from './session.ts';

export interface OpenOptions {
  about?: string | undefined;
  skills?: string[] | undefined;
}

/** Lets others ask an agent of this bus over A2A, or ends that. */
export async function openAgent(
  speaker: Speaker,
  name: string,
  on: boolean,
  { about, skills }: OpenOptions,
): Promise<ExitCode> {
  const result = await setOpen(speaker, name, on, { about, skills }).catch((error: unknown) => {
    throw error instanceof BusError && error.code === 'unknown-agent' ? notMadeYet(name, error) : error;
  });
  if (speaker.json) await printJson(result);
  else if (result.url === undefined) {
    await printLine(`${result.agent.name} can't be asked over A2A any more. What was asked before stays in its inbox.`);
  } else await printLine(openLines(result.agent.name, result.url));
  return ExitCode.ok;
}

async function setOpen(
  speaker: Speaker,
  name: string,
  on: boolean,
  { about, skills }: OpenOptions,
): Promise<OpenResult> {
  if (about !== undefined || skills !== undefined) {
    // What it says of itself is the agent's own; whoever owns this account may speak as it.
    const { client } = await Session.open({ ...speaker, as: name });
    await client.call('register', { about, skills });
    client.close();
  }
  const { client } = await Session.open({ ...speaker, as: undefined });
  return await client.request('open', { name, on });
}

function notMadeYet(name: string, { message, next }: BusError): BusError {
  return new BusError('unknown-agent', message, {
    next: `${next} To make it first: \`agent-bus register ${name.slice(0, 60)}\`.`,
  });
}

function openLines(name: string, url: string): string {
  const { shell } = commandLine();
  return [
    `${name} can be asked over A2A now, from this machine. Its address, for A2A clients:`,
    '',
    `  ${url}`,
    '',
    'Whoever asks needs a token and is an agent of its own here. To make one for a caller:',
    `  ${shell} register CALLER`,
    'The client sends it with every request: Authorization: Bearer <token>',
    `To end it: ${shell} register ${name} --close`,
  ].join('\n');
}
