import { BusError } from '../../core/errors.ts';
import type { RemoteRecord } from '../../core/model.ts';

/** Headers that say how a request is to be read; a secret in their place would break every one. */
const taken =
  /^(host|connection|content-.*|transfer-encoding|accept.*|expect|upgrade|te|trailer|keep-alive|user-agent|proxy-.*|a2a-.*|x-a2a-.*)$/i;

/** A header that can go along with every request to an agent. What it says is in no error. */
export function assertSecret(secret: RemoteRecord['secret']): RemoteRecord['secret'] {
  if (secret === null) return null;
  const { header, value } = secret;
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(header) || taken.test(header)) {
    throw new BusError('invalid-input', `"${header.slice(0, 100)}" is no header that a secret can go in.`, {
      next: 'Use "Authorization" for a bearer token, or the name that the agent’s documentation gives, such as "X-API-Key".',
    });
  }
  if (!/^[\x21-\x7e]([\x20-\x7e]{0,8190}[\x21-\x7e])?$/.test(value)) {
    throw new BusError(
      'invalid-input',
      'The secret has characters that no header can carry, or is empty or too long.',
      {
        next: 'Give it as one line of ASCII, without a line break at its end.',
      },
    );
  }
  return { header, value };
}
