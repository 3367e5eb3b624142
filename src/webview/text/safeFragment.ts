import DOMPurify from 'dompurify';
import { hasInvisible, pieces } from './invisible.ts';
import { toHtml } from './markdown.ts';

// The second wall behind markdown.ts: whatever comes out there, nothing but these gets into the page.
const allowed = {
  ALLOWED_TAGS:
    'p br hr ul ol li blockquote em strong s code pre div span a button table thead tbody tr th td #text'.split(' '),
  ALLOWED_ATTR: 'class dir role aria-level tabindex data-href title type start'.split(' '),
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

/** Markdown as nodes to put into the page. Throws nothing: what can't be rendered is shown as the text it is. */
export function safeFragment(text: string): DocumentFragment {
  try {
    const fragment = DOMPurify.sanitize(toHtml(text), allowed);
    showInvisible(fragment);
    return fragment;
  } catch {
    return plainFragment(text);
  }
}

export function plainFragment(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const block = document.createElement('div');
  block.className = 'md-plain';
  block.dir = 'auto';
  block.append(...nodesOf(text));
  fragment.append(block);
  return fragment;
}

function showInvisible(fragment: DocumentFragment): void {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    if (hasInvisible(node.data)) found.push(node);
  }
  for (const node of found) node.replaceWith(...nodesOf(node.data));
}

function nodesOf(text: string): Node[] {
  return pieces(text).map((piece) => {
    if (typeof piece === 'string') return document.createTextNode(piece);
    const mark = document.createElement('span');
    mark.className = 'hidden-mark';
    mark.title = piece.title;
    mark.textContent = piece.label;
    return mark;
  });
}
