/** A file that is ours from its first byte to its last, which its first line says. */
import type { ConfigFile } from '../products/product.ts';
import { Unreadable } from './unreadable.ts';

export const ownMark = 'Written by `agent-bus connect`, taken away by `agent-bus disconnect`; changes are lost.';

/** @throws Unreadable where somebody else has a file in that place */
export function ownText(text: string | undefined, { parts }: ConfigFile): string {
  if (text !== undefined && text.trim() !== '' && textWithout(text) !== undefined) {
    throw new Unreadable('it is somebody else’s file in the place of one of ours');
  }
  return parts.map(({ value }) => value as string).join('');
}

/** @returns nothing of a file of ours */
export function textWithout(text: string): string | undefined {
  const [first = ''] = text.split('\n', 1);
  return first.includes(ownMark) ? undefined : text;
}
