// A bar for every unit, layer or part, above or below zero: by pointer or arrow keys it says its name and number.
import { scaleLinear } from 'd3-scale';
import { h, styled, svg } from '../dom';
import { known, short } from '../numbers';
import * as tooltip from '../tooltip';
import { sound, x_axis, y_axis, type Box, type Scale } from './axes';
import { chart_root } from './root';

export interface UnitBar {
  name: string;
  value: number | null;
  kind: number; // which of `kinds`
  note?: string; // one more line of the reading
}

export interface UnitBars {
  bars: UnitBar[];
  kinds: { name: string; colour: string; pattern?: 'hatched' }[];
  x_label: string;
  y_label: string;
  height?: number;
  describe: string;
}

let patterns = 0;

/** Kinds differ by more than their colours: every second one is hatched. */
function fill_of(root: SVGSVGElement, kind: UnitBars['kinds'][number]): string {
  if (!kind.pattern) return kind.colour;
  const id = `hatch-${++patterns}`;
  root.appendChild(
    svg(
      'pattern',
      { id, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      styled(svg('rect', { width: 5, height: 5, opacity: 0.35 }), { fill: kind.colour }),
      styled(svg('rect', { width: 3, height: 5 }), { fill: kind.colour }),
    ),
  );
  return `url(#${id})`;
}

export function unit_bars(chart: UnitBars, width: number): SVGSVGElement {
  const height = chart.height ?? 250;
  const shown = chart.kinds.filter((_, k) => chart.bars.some((b) => b.kind === k));
  const legend = shown.length > 1 ? 22 : 0;
  const box: Box = { left: 52, top: 30, width: width - 52 - 14, height: height - 30 - 44 };
  const values = chart.bars.map((b) => b.value).filter(known);
  const y = scaleLinear()
    .domain(sound(Math.min(0, ...values), Math.max(0, ...values)))
    .nice()
    .range([box.top + box.height, box.top]) as unknown as Scale;
  const n = Math.max(1, chart.bars.length);
  const step = box.width / n;
  const x = scaleLinear()
    .domain([0.5, n + 0.5])
    .range([box.left, box.left + box.width]) as unknown as Scale;
  const root = chart_root(width, height + legend, chart.describe, { tabindex: '0' });
  const ticks = x.ticks(Math.max(2, Math.floor(box.width / 80))).filter((t) => Number.isInteger(t) && t >= 1 && t <= n);
  root.append(y_axis(y, box, chart.y_label), x_axis(x, box, chart.x_label, false, ticks));
  root.appendChild(svg('line', { class: 'base', x1: box.left, x2: box.left + box.width, y1: y(0), y2: y(0) }));
  const fills = chart.kinds.map((k) => fill_of(root, k));
  const drawn = chart.bars.map((b, i) => {
    if (!known(b.value)) return null;
    const end = y(b.value);
    const rect = styled(
      svg('rect', {
        class: 'unit-bar',
        x: box.left + i * step + Math.min(2, step * 0.15),
        y: Math.min(y(0), end),
        width: Math.max(1, step - Math.min(4, step * 0.3)),
        height: Math.max(0.5, Math.abs(end - y(0))),
      }),
      { fill: fills[b.kind] },
    );
    root.appendChild(rect);
    return rect;
  });
  let left = box.left;
  if (legend)
    for (const kind of shown) {
      root.append(
        styled(svg('rect', { x: left, y: height + 4, width: 14, height: 10, rx: 2 }), { fill: fills[chart.kinds.indexOf(kind)] }),
        svg('text', { class: 'end-label', x: left + 19, y: height + 13 }, kind.name),
      );
      left += 34 + kind.name.length * 7;
    }

  let at = -1;
  const hide = (): void => {
    drawn[at]?.classList.remove('marked');
    at = -1;
    tooltip.hide();
  };
  const show_at = (i: number, client_x: number, client_y: number): void => {
    drawn[at]?.classList.remove('marked');
    at = i;
    drawn[at]?.classList.add('marked');
    const b = chart.bars[i];
    tooltip.show(
      client_x,
      client_y,
      h('b', null, b.name),
      h('div', null, `${chart.y_label}: `, h('b', null, known(b.value) ? short(b.value, 4) : 'not measured')),
      b.note ? h('div', null, b.note) : null,
    );
  };
  root.addEventListener('pointermove', (event) => {
    const frame = root.getBoundingClientRect();
    const i = Math.floor(((event.clientX - frame.left) * (width / frame.width) - box.left) / step);
    if (i < 0 || i >= chart.bars.length) hide();
    else show_at(i, event.clientX, event.clientY);
  });
  root.addEventListener('pointerleave', hide);
  root.addEventListener('blur', hide);
  root.addEventListener('keydown', (event) => {
    const move = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (event.key === 'Escape') hide();
    if (!move || !chart.bars.length) return;
    event.preventDefault();
    const i = Math.max(0, Math.min(chart.bars.length - 1, (at < 0 ? (move > 0 ? -1 : chart.bars.length) : at) + move));
    const frame = root.getBoundingClientRect();
    show_at(i, frame.left + (box.left + (i + 0.5) * step) * (frame.width / width), frame.top + box.top);
  });
  return root;
}
