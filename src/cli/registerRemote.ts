import type { RemoteParams, RemoteResult } from '../protocol/doorMessages.ts';
import { commandLine, quoted } from './commandLine.ts';
import { ExitCode } from './exitCode.ts';
import { printJson, printLine } from './print.ts';
import { secretFrom } from './secretSource.ts';
import { Session, type Speaker } from './session.ts';
import { visibleLine } from './terminalText.ts';
import { usageError } from './usageError.ts';

export interface RemoteOptions {
  name?: string | undefined;
  'bearer-from'?: string | undefined;
  header?: string | undefined;
  'header-from'?: string | undefined;
}

/** Adds an A2A agent by its address, and shows what its card says. */
export async function registerRemote(speaker: Speaker, url: string, options: RemoteOptions): Promise<ExitCode> {
  const secret = await secretOf(options);
  const { client } = await Session.open(speaker);
  const params: RemoteParams = {
    url,
    ...(options.name !== undefined && { name: options.name }),
    ...(secret && { secret }),
  };
  const result = await client.request('remote', params);
  if (speaker.json) await printJson(result);
  else await printLine(remoteLines(result, options.name, secret?.header));
  return ExitCode.ok;
}

async function secretOf(options: RemoteOptions): Promise<RemoteParams['secret']> {
  const { header, 'header-from': headerFrom, 'bearer-from': bearerFrom } = options;
  if (bearerFrom !== undefined && (header !== undefined || headerFrom !== undefined)) {
    throw usageError('--bearer-from and --header do not go together.', 'One secret goes with each request: give one.');
  }
  if (bearerFrom !== undefined) {
    return { header: 'Authorization', value: `Bearer ${await secretFrom(bearerFrom, 'bearer-from')}` };
  }
  if (header === undefined && headerFrom === undefined) return undefined;
  if (header === undefined || headerFrom === undefined) {
    throw usageError(
      '--header and --header-from belong together: the name of the header, and where its value comes from.',
      'For example: --header X-API-Key --header-from key.txt',
    );
  }
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(header)) {
    throw usageError(
      'That is not the name of a header.',
      'A name such as X-API-Key; the value comes by --header-from.',
    );
  }
  return { header, value: await secretFrom(headerFrom, 'header-from') };
}

function remoteLines({ agent, known }: RemoteResult, wanted: string | undefined, header: string | undefined): string {
  const { name, about, skills, address } = agent;
  const keeps = wanted !== undefined && wanted !== name ? ' It keeps its name here.' : '';
  const { shell } = commandLine();
  return [
    known ? `${name} was on the bus already; its card was read again.${keeps}` : `${name} is on the bus.`,
    ...(about === undefined ? [] : [`  about    ${visibleLine(about, 300)}`]),
    ...(skills === undefined ? [] : [`  skills   ${skills.map((skill) => visibleLine(skill, 60)).join(', ')}`]),
    ...(address === undefined ? [] : [`  address  ${visibleLine(address, 300)}`]),
    ...(header === undefined ? [] : [`  secret   goes along as ${header}, and is shown nowhere`]),
    'What it says of itself is its own word. To ask it, and wait for the answer:',
    `  ${shell} send ${quoted(name)} "…" --wait 60`,
  ].join('\n');
}
