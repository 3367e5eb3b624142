import { BusError } from '../core/errors.ts';
import type { BusHome } from '../hub/home.ts';
import { exitAlreadyRunning, readRecord, type HubRecord } from '../hub/discovery.ts';
import {
  proofText,
  protocolVersion,
  type HelloResult,
  type LoginParams,
  type LoginResult,
} from '../protocol/messages.ts';
import { Peer, type PeerHandlers } from '../protocol/peer.ts';
import { dial, onLoopback } from './dial.ts';
import { spawnHub, startFailure, type StartedHub } from './hubProcess.ts';
import { freshNonce, isProof, sign } from './proofs.ts';
import { compareVersions } from './versions.ts';

export interface FindOptions {
  home: BusHome;
  /** Start a hub if none is running. */
  start: boolean;
  hubScript: string;
  /** An older hub than this is asked to make room. */
  version: string;
  timeoutMs?: number;
}

export interface HubConnection {
  peer: Peer;
  record: HubRecord;
  agent: string;
  version: string;
}

export type Identity = Pick<LoginParams, 'as' | 'attach' | 'token' | 'via' | 'passing'>;

const pollMs = 15;

/**
 * Connects to the hub, starting it where it is wanted and missing. A record proves nothing: its writer may be dead and its
 * port somebody else's, so the hub has to prove that it knows the owner's token before it hears anything of it.
 */
export async function openConnection(
  options: FindOptions,
  identity: Identity,
  handlers: PeerHandlers,
  onClose: (error?: BusError) => void,
): Promise<HubConnection> {
  const patience = options.timeoutMs ?? 15_000;
  const began = performance.now();
  let deadline = began + patience;
  let started: StartedHub | undefined;
  let lastStart = 0;
  for (;;) {
    const { record } = readRecord(options.home.record);
    if (record) {
      const connection = await tryConnect(record, options, identity, handlers, onClose);
      if (connection === 'outdated') {
        // Older clients may have started another of their own before ours was up: that is no hub that does not answer.
        deadline = Math.min(performance.now(), began + 3 * patience) + patience;
        continue;
      }
      if (connection) return connection;
    }
    if (!options.start) throw notRunning();
    if (started?.exit && started.exit.code !== exitAlreadyRunning) throw startFailure(options.home, started);
    // One that lost the race has left; should the winner die as well, start again.
    if (!started || (started.exit && performance.now() - lastStart > 500)) {
      started = spawnHub(options.home, options.hubScript);
      lastStart = performance.now();
    }
    if (performance.now() > deadline) {
      throw new BusError('hub-unavailable', 'The hub did not answer in time.', {
        next: 'Try again; if it stays so, look at `agent-bus logs`.',
      });
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function tryConnect(
  record: HubRecord,
  options: FindOptions,
  identity: Identity,
  handlers: PeerHandlers,
  onClose: (error?: BusError) => void,
): Promise<HubConnection | 'outdated' | undefined> {
  const socket = await dial(onLoopback(record.rpcPort));
  if (!socket) return undefined;
  let proved = false;
  let loggedIn = false;
  const peer = new Peer(socket, {
    handlers,
    maxDepth: 256,
    onClose: (error) => {
      if (loggedIn) onClose(error);
    },
  });
  try {
    const nonce = freshNonce();
    const hello = (await peer.request(
      'hello',
      { protocol: protocolVersion, nonce },
      { timeoutMs: 3_000 },
    )) as HelloResult;
    if (!isProof(record.token, proofText('hub', nonce, hello.nonce), hello.proof)) throw new Error('not our hub');
    proved = true;
    if (hello.protocol > protocolVersion) throw tooNew(hello);
    const proof = sign(record.token, proofText('client', nonce, hello.nonce));
    if (options.start && compareVersions(options.version, hello.version) > 0) {
      await takeOver(peer, proof, options.home, record);
      return 'outdated';
    }
    const credentials = identity.token === undefined ? { proof } : {};
    const login = (await peer.request('login', { ...identity, ...credentials }, { timeoutMs: 10_000 })) as LoginResult;
    loggedIn = true;
    return { peer, record, agent: login.agent, version: hello.version };
  } catch (error) {
    peer.close();
    // A stranger's refusal means nothing, and a hub that is leaving will be followed by another.
    if (proved && error instanceof BusError && !['hub-unavailable', 'hub-stopping'].includes(error.code)) throw error;
    return undefined;
  }
}

/** Asks an older hub to finish what it has and to leave, and waits until it has left. */
async function takeOver(peer: Peer, proof: string, home: BusHome, old: HubRecord): Promise<void> {
  await peer.request('login', { proof, via: 'rpc', passing: true }, { timeoutMs: 10_000 });
  await peer.request('stop', { reason: 'upgrade' }, { timeoutMs: 10_000 });
  const deadline = performance.now() + 10_000;
  while (performance.now() < deadline && readRecord(home.record).record?.nonce === old.nonce) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

function notRunning(): BusError {
  return new BusError('hub-unavailable', 'The hub is not running.', { next: 'Start it with `agent-bus start`.' });
}

function tooNew(hello: HelloResult): BusError {
  return new BusError('hub-version', `The hub (${hello.version}) speaks a newer protocol than this client.`, {
    next: 'Update this installation of Agent Bus.',
  });
}
