import MarkdownIt from 'markdown-it';

/**
 * Message text as HTML without anything that loads, runs or leads away: no HTML of the writer's, no images, links that
 * are only names of a place (`data-href`). What comes out still goes through safeFragment before it is shown.
 */

const openable = /^(?:https?|file):/i;
const scheme = /^[a-z][a-z0-9+.-]*:/i;

/** The web, files, and paths in a workspace; the extension decides in the end, and asks. */
export function mayOpen(href: string): boolean {
  const place = href.trim();
  if (place === '' || place.startsWith('#') || place.startsWith('//')) return false;
  // `a.ts:12` and `C:\\a` only look like a scheme.
  return openable.test(place) || !scheme.test(place) || /^(?:[a-z]:[\\/]|[^:]+:\d+(?::\d+)?$)/i.test(place);
}

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: 20 });
markdown.validateLink = mayOpen;
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });

type Token = ReturnType<typeof markdown.parse>[number];

const { escapeHtml } = markdown.utils;
const { rules } = markdown.renderer;

// Levels below those of the page: the conversation is 1, a day 2. No heading is more than one deeper than the last.
let headings: number[] = [];

rules.heading_open = (tokens, at) => {
  const written = Number(tokens[at]?.tag.slice(1));
  while ((headings.at(-1) ?? 0) >= written) headings.pop();
  headings.push(written);
  const level = Math.min(6, 2 + headings.length);
  return `<p class="md-heading md-h${Math.min(written, 4)}" role="heading" aria-level="${level}" dir="auto">`;
};
rules.heading_close = () => '</p>\n';

rules.link_open = (tokens, at) => linkOpen(attribute(tokens[at], 'href'));
rules.link_close = () => '</a>';
rules.image = (tokens, at) => {
  const token = tokens[at];
  const place = attribute(token, 'src');
  return `${linkOpen(place)}[image: ${escapeHtml(token?.content || place)}]</a>`;
};

const attribute = (token: Token | undefined, name: string) => String(token?.attrGet(name) ?? '');

function linkOpen(href: string): string {
  const place = escapeHtml(href);
  return `<a class="md-link" role="link" tabindex="0" data-href="${place}" title="${place}">`;
}

const code = (text: string, language: string) =>
  `<div class="md-code"><div class="md-code-head"><span>${escapeHtml(language)}</span>` +
  '<button type="button" class="md-copy" title="Copy this code">Copy</button></div>' +
  `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre></div>\n`;

rules.fence = (tokens, at) => {
  const token = tokens[at];
  return code(token?.content ?? '', token?.info.trim().split(/\s+/, 1)[0]?.slice(0, 30) ?? '');
};
rules.code_block = (tokens, at) => code(tokens[at]?.content ?? '', '');

rules.table_open = () => '<div class="md-table" tabindex="0"><table>\n';
rules.table_close = () => '</table></div>\n';
for (const cell of ['th_open', 'td_open'] as const) {
  rules[cell] = (tokens, at) => {
    const token = tokens[at];
    const side = /text-align:\s*(center|right)/.exec(attribute(token, 'style'))?.[1];
    return `<${token?.tag ?? 'td'} dir="auto"${side ? ` class="md-${side}"` : ''}>`;
  };
}
// Each paragraph finds its own direction.
for (const block of ['paragraph_open', 'list_item_open', 'blockquote_open'] as const) {
  rules[block] = (tokens, at, options, _env, self) => {
    tokens[at]?.attrSet('dir', 'auto');
    return self.renderToken(tokens, at, options);
  };
}

export function toHtml(text: string): string {
  headings = [];
  return markdown.render(text);
}
