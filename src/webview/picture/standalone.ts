import type { Picture } from './layout.ts';

const kept = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-opacity',
  'opacity',
  'font-size',
  'font-weight',
] as const;
const dropped = ['class', 'tabindex', 'role', 'aria-label', 'data-id'];
const headHeight = 40;
const space = 'http://www.w3.org/2000/svg';

/** The picture as a file of its own: colours as they are now, generic fonts, a title, nothing to load or run. */
export function standalone(drawn: SVGSVGElement, picture: Picture, title: string, description: string): string {
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const originals = drawn.querySelectorAll<SVGElement>('*');
  for (const [i, element] of copy.querySelectorAll<SVGElement>('*').entries()) {
    const original = originals[i];
    if (original && original.tagName !== 'title') inline(original, element);
  }
  for (const comment of comments(copy)) comment.remove();
  const page = getComputedStyle(drawn);
  const background = opaque(getComputedStyle(document.body).backgroundColor);
  const { width, height } = picture;
  const total = height + headHeight;

  const root = document.createElementNS(space, 'svg');
  root.setAttribute('xmlns', space);
  root.setAttribute('width', String(width));
  root.setAttribute('height', String(total));
  root.setAttribute('viewBox', `0 ${-headHeight} ${width} ${total}`);
  root.setAttribute('role', 'img');
  root.setAttribute('font-family', 'system-ui, sans-serif');
  root.append(
    make('title', {}, title),
    make('desc', {}, description),
    make('rect', { x: '0', y: String(-headHeight), width: String(width), height: String(total), fill: background }),
    ...picture.lifelines.map(({ name, x }) =>
      make(
        'text',
        { x: String(x), y: '-14', 'text-anchor': 'middle', 'font-size': '12', 'font-weight': '600', fill: page.color },
        name,
      ),
    ),
    ...copy.childNodes,
  );
  return new XMLSerializer().serializeToString(root);
}

function inline(original: SVGElement, element: SVGElement): void {
  const style = getComputedStyle(original);
  for (const name of kept) {
    const value = style.getPropertyValue(name);
    if (value && !(name === 'stroke' && value === 'none') && value !== 'normal') element.setAttribute(name, value);
  }
  for (const name of dropped) element.removeAttribute(name);
}

function make(tag: string, attributes: Record<string, string>, text?: string): SVGElement {
  const element = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function opaque(colour: string): string {
  return /^rgba\(.*, 0\)$|^transparent$/.test(colour) ? '#ffffff' : colour;
}

function comments(root: Node): Comment[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_COMMENT);
  const found: Comment[] = [];
  while (walker.nextNode()) found.push(walker.currentNode as Comment);
  return found;
}
