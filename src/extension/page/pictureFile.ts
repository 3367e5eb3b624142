import { BusError } from '../../core/errors.ts';

/** A picture that is opened in a browser later must not be able to do anything there. */
export function assertStill(svg: string): void {
  const moving =
    /<(?:script|foreignobject|iframe|object|embed|animate|set|image)\b|<[^>]*(?:\son\w+\s*=|javascript:)|<!|<\?(?!xml )/i;
  if (/^\s*(?:<\?xml [^>]*\?>\s*)?<svg[\s>]/i.test(svg) && !moving.test(svg)) return;
  throw new BusError('invalid-input', 'The page made a picture that is not a plain SVG picture.', {
    next: 'Reload the window; if it happens again, the extension has a fault.',
  });
}

export function fileName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 80);
  return plain === '' ? 'conversation' : plain;
}
