/** By what the hub and its own clients prove to each other that they know the owner's token; the hub does so first. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export function freshNonce(): string {
  return randomBytes(24).toString('base64url');
}

export function sign(token: string, text: string): string {
  return createHmac('sha256', token).update(text).digest('base64url');
}

export function isProof(token: string, text: string, proof: unknown): boolean {
  const given = Buffer.from(typeof proof === 'string' ? proof : '', 'base64url');
  const right = createHmac('sha256', token).update(text).digest();
  return given.length === right.length && timingSafeEqual(given, right);
}
