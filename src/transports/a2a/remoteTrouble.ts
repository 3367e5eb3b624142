import { A2AError, A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import { BusError } from '../../core/errors.ts';
import { cleanLine } from '../../core/envelope.ts';
import { ConnectionTrouble, type GuardedFetch } from './guardedFetch.ts';

/**
 * Why a call to an agent elsewhere came to nothing.
 * - unreachable: it can't have heard of it;
 * - lost: it may have;
 * - unknown-task: it does not know that task;
 * - unsupported: it can't do this kind of call at all;
 * - refused: it has heard and said no.
 */
export type TroubleKind = 'unreachable' | 'lost' | 'unknown-task' | 'unsupported' | 'refused';

export class RemoteTrouble extends Error {
  readonly kind: TroubleKind;

  constructor(kind: TroubleKind, reason: string) {
    super(reason);
    this.name = 'RemoteTrouble';
    this.kind = kind;
  }
}

/** The one place that judges what the SDK and the connection throw. `status` is that of the HTTP answer, if one came. */
export function troubleOf(error: unknown, status: number | undefined, web: GuardedFetch): RemoteTrouble {
  if (error instanceof RemoteTrouble) return error;
  if (error instanceof ConnectionTrouble) return new RemoteTrouble(error.sent ? 'lost' : 'unreachable', error.message);
  // Names may resolve to something else tomorrow; an answer that is too large stays so.
  if (error instanceof BusError) {
    return new RemoteTrouble(error.code === 'refused-address' ? 'unreachable' : 'refused', error.message);
  }
  const said = saidBy(error);
  const reason = cleanLine(web.clean(said?.message ?? (error instanceof Error ? error.message : String(error))), 500);
  if (status === 401 || status === 403) return new RemoteTrouble('refused', wantsCredentials(status));
  if (status === 429 || status === 503) return new RemoteTrouble('unreachable', `it is busy (HTTP ${status})`);
  if (status === 502) return new RemoteTrouble('unreachable', `it is not there, says the server before it (HTTP 502)`);
  if (status === 504) return new RemoteTrouble('lost', `it is too slow for the server before it (HTTP 504)`);
  if (said) return new RemoteTrouble(kindOf(said), reason || 'it gave no reason');
  if (status === undefined || status < 300) return new RemoteTrouble('refused', `its answer makes no sense: ${reason}`);
  return new RemoteTrouble('refused', `it answered with HTTP ${status}: ${reason}`);
}

function wantsCredentials(status: number): string {
  return `it wants credentials (HTTP ${status}); the person can give them with \`agent-bus register URL --bearer-from FILE\``;
}

function saidBy(error: unknown): A2AError | undefined {
  if (error instanceof A2AError) return error;
  // An error inside a stream comes wrapped.
  return error instanceof Error && error.cause instanceof A2AError ? error.cause : undefined;
}

function kindOf(said: A2AError): TroubleKind {
  if (said.reason === 'TASK_NOT_FOUND') return 'unknown-task';
  const code = 'envelopeCode' in said ? said.envelopeCode : undefined;
  if (said.reason === 'UNSUPPORTED_OPERATION' || code === A2A_ERROR_CODE.METHOD_NOT_FOUND) return 'unsupported';
  return 'refused';
}
