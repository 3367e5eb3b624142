import { html, nothing, svg, type TemplateResult } from 'lit';
import { visible } from '../text/invisible.ts';
import { clock, dayName } from '../text/time.ts';
import { fitted, gutter, type Arc, type Arrow, type Mark, type Picture } from './layout.ts';

const stateWords = {
  tell: '',
  reply: '',
  pending: 'waits for an answer',
  answered: 'answered',
  failed: 'failed',
  held: 'held',
} as const;

export interface Handlers {
  active: string | undefined;
  choose: (id: string) => void;
  focus: (id: string) => void;
}

/** "10:32, a asks b: text, answered" */
export function spoken(arrow: Arrow, lang: string): string {
  const state = stateWords[arrow.state];
  const to = arrow.to.map((line) => line.name).join(', ') || 'nobody';
  return `${clock(Date.parse(arrow.sentAt), lang)}, ${arrow.from.name} to ${to}: ${visible(arrow.label)}${state ? `, ${state}` : ''}`;
}

export function draw(picture: Picture, zoom: number, lang: string, handlers: Handlers): TemplateResult {
  const { width, height } = picture;
  return html`<svg
    class="picture"
    width=${Math.round(width * zoom)}
    height=${Math.round(height * zoom)}
    viewBox="0 0 ${width} ${height}"
    role="group"
    aria-label="Who told whom what, from top to bottom"
  >
    ${picture.lifelines.map(({ x }) => svg`<line class="p-life" x1=${x} x2=${x} y1="0" y2=${height} />`)}
    ${picture.marks.map((mark) => drawMark(mark, width, lang))} ${picture.arcs.map(drawArc)}
    ${picture.arrows.map((arrow) => drawArrow(arrow, lang, handlers))}
  </svg>`;
}

function drawMark(mark: Mark, width: number, lang: string): TemplateResult {
  const at = Date.parse(mark.at);
  if (mark.kind === 'time') {
    return svg`<text class="p-time" x=${gutter - 12} y=${mark.y + 4} text-anchor="end">${clock(at, lang)}</text>`;
  }
  const text = mark.kind === 'day' ? dayName(at, Date.now(), lang) : `${mark.silence ?? ''} later`;
  return svg`<g class="p-mark p-${mark.kind}"><line class="p-mark-line" x1="12" x2=${width - 12} y1=${mark.y} y2=${mark.y} /><rect
    class="p-mark-back" x=${gutter - 4} y=${mark.y - 9} width=${text.length * 6.4 + 16} height="18" rx="9" /><text
    class="p-mark-text" x=${gutter + 4} y=${mark.y + 4}>${text}</text></g>`;
}

function drawArc({ x, y1, y2, bend, waited, reply }: Arc): TemplateResult {
  const middle = (y1 + y2) / 2;
  const side = Math.sign(bend);
  const path = `M${x + 3 * side} ${y1} C${x + bend * 1.4} ${y1 + 6} ${x + bend * 1.4} ${y2 - 6} ${x + 3 * side} ${y2}`;
  return svg`<g class="p-arc ${reply ? '' : 'p-arc-open'}"><path class="p-arc-line" d=${path} /><text
    class="p-arc-text" x=${x + bend + 5 * side} y=${reply ? Math.min(middle + 4, y1 + 60) : y1 + 24}
    text-anchor=${side > 0 ? 'start' : 'end'}>${waited}</text></g>`;
}

function drawArrow(arrow: Arrow, lang: string, { active, choose, focus }: Handlers): TemplateResult {
  const { from, to, y, id } = arrow;
  const left = Math.min(from.x, ...to.map((line) => line.x));
  const right = Math.max(from.x, ...to.map((line) => line.x));
  const words = spoken(arrow, lang);
  return svg`<g
    class="p-arrow p-${arrow.state} ${arrow.urgent ? 'p-urgent' : ''}"
    role="button"
    tabindex=${id === active ? 0 : -1}
    data-id=${id}
    @click=${() => choose(id)}
    @focus=${() => focus(id)}
  ><title>${words}</title><rect class="p-hit" x=${left - 6} y=${y - 22} width=${Math.max(28, right - left) + 12} height="32" rx="3" />${to.map(
    (line) => svg`<line class="p-line" x1=${from.x} x2=${line.x + (line.x > from.x ? -8 : 8)} y1=${y} y2=${y} /><path
      class="p-head" d=${head(line.x, y, line.x > from.x ? 1 : -1)} />`,
  )}<circle class="p-from" cx=${from.x} cy=${y} r="3.5" />${
    arrow.label
      ? svg`<text class="p-text" x=${arrow.labelX} y=${y - 8}>${fitted(visible(arrow.label), arrow.labelWidth)}</text>`
      : nothing
  }</g>`;
}

function head(x: number, y: number, side: 1 | -1): string {
  const tip = x - 2 * side;
  return `M${tip} ${y} L${tip - 8 * side} ${y - 4} L${tip - 8 * side} ${y + 4} Z`;
}
