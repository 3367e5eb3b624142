/** The card of an agent elsewhere: fetched, distrusted, and cut down to what the bus uses of it. */
import type { AgentCard } from '@a2a-js/sdk';
import { z } from 'zod';
import { BusError } from '../../core/errors.ts';
import { cleanLine } from '../../core/envelope.ts';
import { limits } from '../../core/limits.ts';
import { parseJson } from '../../protocol/depth.ts';
import type { Nearness } from './addresses.ts';
import { ConnectionTrouble, type Bounds, type Fetched, type GuardedFetch } from './guardedFetch.ts';

export interface RemoteCard {
  name: string;
  about: string;
  skills: string[];
  streaming: boolean;
  /** The one of its interfaces that we talk to. */
  url: string;
  binding: 'JSONRPC' | 'HTTP+JSON';
  version: '1.0' | '0.3';
  tenant: string;
  /** How near the machine was that the card came from; nothing nearer is talked to because of it. */
  near: Nearness;
}

const bounds: Bounds = { bytes: 256 * 1024, answerMs: 10_000, wholeMs: 10_000 };
const depth = 32;
/** The name of the file today, and the one before. */
const files = ['/.well-known/agent-card.json', '/.well-known/agent.json'];

export async function readCard(web: GuardedFetch, address: string, signal?: AbortSignal): Promise<RemoteCard> {
  const { text, near } = await fetchCard(web, address, signal);
  const card = checked(address, text);
  const spoken = interfacesOf(address, card);
  const far = web.under(near);
  try {
    for (const { url } of spoken) await far.check(new URL(url));
  } finally {
    far.close();
  }
  const chosen = spoken.find(({ version }) => version === '1.0') ?? spoken[0];
  if (!chosen)
    throw badCard(address, 'it names no interface that the bus speaks: JSON-RPC or HTTP+JSON, of 1.0 or 0.3');
  return {
    name: cleanLine(card.name, 100),
    about: cleanLine(card.description || card.name, limits.aboutLength),
    skills: skillsOf(card),
    streaming: card.capabilities?.streaming ?? false,
    ...chosen,
    near,
  };
}

/** As the SDK wants it. Only what was checked goes in. */
export function sdkCard(card: RemoteCard): AgentCard {
  return {
    name: card.name,
    description: card.about,
    supportedInterfaces: [
      { url: card.url, protocolBinding: card.binding, protocolVersion: card.version, tenant: card.tenant },
    ],
    provider: undefined,
    version: '',
    capabilities: { streaming: card.streaming, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    signatures: [],
  };
}

async function fetchCard(
  web: GuardedFetch,
  address: string,
  signal: AbortSignal | undefined,
): Promise<{ text: string; near: Nearness }> {
  for (const file of files) {
    const headers = { accept: 'application/json', 'a2a-version': '1.0' };
    const { response, near } = await fetchFile(web, address, address + file, headers, signal);
    const { status } = response;
    if (status === 404 || status === 405 || status === 410) continue;
    if (status === 401 || status === 403) throw unauthorized(address, status);
    if (status === 429 || status >= 500) {
      throw new ConnectionTrouble(`${address} is in trouble itself: it answered with HTTP ${status}.`, true);
    }
    if (!response.ok) throw badCard(address, `it was answered with HTTP ${status}`);
    return { text: await response.text(), near };
  }
  throw badCard(address, `there is none at ${files.join(' or ')}`);
}

async function fetchFile(
  web: GuardedFetch,
  address: string,
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
): Promise<Fetched> {
  try {
    const fetched = await web.fetch(url, { headers, signal }, bounds);
    if (fetched.response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await fetched.response.body?.cancel();
      throw badCard(address, 'it is a stream of events');
    }
    return fetched;
  } catch (error) {
    // Too large, or packed: the words are there already.
    if (error instanceof BusError && error.code === 'remote-failed') throw badCard(address, error.message);
    throw error;
  }
}

const words = (most: number) => z.string().max(most);
const maybe = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? undefined);

const cardShape = z.looseObject({
  name: words(500).min(1),
  description: maybe(words(50_000)),
  capabilities: maybe(z.looseObject({ streaming: maybe(z.boolean()) })),
  skills: maybe(
    z
      .array(
        z.looseObject({
          name: maybe(words(1_000)),
          id: maybe(words(1_000)),
          tags: maybe(z.array(words(1_000)).max(200)),
        }),
      )
      .max(1_000),
  ),
  supportedInterfaces: maybe(
    z
      .array(
        z.looseObject({
          url: words(limits.addressLength),
          protocolBinding: words(200),
          protocolVersion: maybe(words(50)),
          tenant: maybe(words(200)),
        }),
      )
      .max(100),
  ),
  // As cards of 0.3 say it.
  url: maybe(words(limits.addressLength)),
  preferredTransport: maybe(words(200)),
  protocolVersion: maybe(words(50)),
  additionalInterfaces: maybe(
    z.array(z.looseObject({ url: words(limits.addressLength), transport: words(200) })).max(100),
  ),
});
type Card = z.output<typeof cardShape>;

function checked(address: string, text: string): Card {
  if (text.trimStart().startsWith('<')) throw badCard(address, 'it is a web page');
  let json: unknown;
  try {
    json = parseJson(text, depth);
  } catch (error) {
    throw badCard(
      address,
      error instanceof BusError && error.code === 'too-deep' ? 'it is nested too deeply' : 'it is not JSON',
    );
  }
  const card = cardShape.safeParse(json);
  if (card.success) return card.data;
  const [issue] = card.error.issues;
  const where = cleanLine(issue?.path.join('.') || 'the whole of it', 100);
  throw badCard(address, `it does not have the form of one (${where}: ${cleanLine(issue?.message ?? 'wrong', 100)})`);
}

type Spoken = Pick<RemoteCard, 'url' | 'binding' | 'version' | 'tenant'>;

function interfacesOf(address: string, card: Card): Spoken[] {
  const offered = card.supportedInterfaces?.length
    ? card.supportedInterfaces.map((one) => ({ ...one, protocolVersion: one.protocolVersion || '1.0' }))
    : [
        ...(card.url === undefined ? [] : [{ url: card.url, protocolBinding: card.preferredTransport ?? 'JSONRPC' }]),
        ...(card.additionalInterfaces ?? []).map(({ url, transport }) => ({ url, protocolBinding: transport })),
      ].map((one) => ({ ...one, protocolVersion: card.protocolVersion || '0.3', tenant: undefined }));
  return offered.flatMap(({ url, protocolBinding, protocolVersion, tenant }): Spoken[] => {
    const binding = bindingOf(protocolBinding);
    const version = versionOf(protocolVersion);
    if (!binding || !version) return [];
    if (!URL.canParse(url)) throw badCard(address, `the address of its interface is none: "${cleanLine(url, 100)}"`);
    return [{ url, binding, version, tenant: tenant ?? '' }];
  });
}

function bindingOf(text: string): RemoteCard['binding'] | undefined {
  const name = text.toUpperCase();
  return name === 'JSONRPC' || name === 'HTTP+JSON' ? name : undefined;
}

function versionOf(text: string): RemoteCard['version'] | undefined {
  const major = /^\s*(\d+)(\.|\s*$)/.exec(text)?.[1];
  return major === '0' ? '0.3' : major === '1' ? '1.0' : undefined;
}

/** Names first, then tags, each once. */
function skillsOf({ skills = [] }: Card): string[] {
  const names = skills.map(({ name, id }) => name || id || '');
  const tags = skills.flatMap((skill) => skill.tags ?? []);
  const clean = [...names, ...tags].map((text) => cleanLine(text, limits.skillLength)).filter(Boolean);
  return [...new Set(clean)].slice(0, limits.skills);
}

export function unauthorized(address: string, status: number): BusError {
  return new BusError('unauthorized', `${address} wants credentials (HTTP ${status}).`, {
    next: 'The person can add it with what it wants: `agent-bus register URL --bearer-from FILE`.',
  });
}

function badCard(address: string, what: string): BusError {
  return new BusError('bad-card', `The agent card of ${address} can’t be used: ${what}.`, {
    next: 'Check the address, or tell whoever runs that agent.',
  });
}
