/** Apart from the line itself, since it is rarely needed there and what makes proofs takes as long to load as all the rest. */
import { readRecord } from '../hub/discovery.ts';
import type { BusHome } from '../hub/home.ts';
import { proofText, protocolVersion } from '../protocol/messages.ts';
import { dial, onLoopback } from './dial.ts';
import { HookLine } from './hookLine.ts';
import { freshNonce, isProof, sign } from './proofs.ts';

/** By the port that the record names, which may be somebody else's by now: the hub has to prove itself first. */
export async function openByPort(home: BusHome): Promise<HookLine | undefined> {
  const { record } = readRecord(home.record);
  const socket = record && (await dial(onLoopback(record.rpcPort)));
  if (!socket) return undefined;
  const line = new HookLine(socket);
  const nonce = freshNonce();
  const hello = await line.request('hello', { protocol: protocolVersion, nonce });
  if (!isProof(record.token, proofText('hub', nonce, hello.nonce), hello.proof)) return undefined;
  line.proof = sign(record.token, proofText('client', nonce, hello.nonce));
  return line;
}
