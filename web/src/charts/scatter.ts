// Dots for seeds, a line for their means.
import { line } from 'd3-shape';
import { scaleLinear, scaleLog } from 'd3-scale';
import { h, styled, svg } from '../dom';
import { known, short } from '../numbers';
import { kMarks, type Look } from '../palette';
import * as tooltip from '../tooltip';
import { sound, x_axis, y_axis, type Box, type Scale } from './axes';
import { chart_root } from './root';

export interface Group {
  name: string;
  look: Look;
  dots: { x: number; y: number; text: string }[];
  means: { x: number; y: number }[];
}

export interface Scatter {
  groups: Group[];
  x_label: string;
  y_label: string;
  log_x: boolean;
  references: { value: number; text: string }[];
  describe: string;
}

export function scatter(chart: Scatter, width: number): SVGSVGElement {
  const height = Math.max(260, Math.min(420, width * 0.5));
  const box: Box = { left: 46, top: 30, width: width - 46 - 18, height: height - 30 - 44 };
  const dots = chart.groups.flatMap((g) => g.dots);
  const xs = [...new Set(dots.map((d) => d.x))].sort((a, b) => a - b);
  const log = chart.log_x && xs.length > 0 && xs[0] > 0;
  const low_x = xs[0] ?? 1,
    high_x = xs[xs.length - 1] ?? 2;
  const domain = !xs.length
    ? sound(NaN, NaN, log)
    : low_x === high_x
      ? log
        ? [low_x / 2, low_x * 2]
        : [low_x - 1, low_x + 1]
      : log
        ? [low_x / 1.12, high_x * 1.12]
        : [low_x - 0.04 * (high_x - low_x), high_x + 0.04 * (high_x - low_x)];
  const ys = [...dots.map((d) => d.y), ...chart.references.map((r) => r.value)].filter(known);
  const unigram = chart.references.find((r) => r.text === 'unigram')?.value;
  const [low, high] = sound(Math.min(...ys), known(unigram) ? Math.min(Math.max(...ys), unigram * 2) : Math.max(...ys));
  const pad = (high - low || 1) * 0.06;
  const x = (log ? scaleLog() : scaleLinear()).domain(domain).range([box.left, box.left + box.width]) as unknown as Scale;
  const y = scaleLinear()
    .domain([low - pad, high + pad])
    .range([box.top + box.height, box.top]) as unknown as Scale;
  const at = (v: number): number => y(Math.min(v, high + pad));

  const root = chart_root(
    width,
    height,
    chart.describe,
    null,
    y_axis(y, box, chart.y_label),
    x_axis(x, box, chart.x_label, log, xs.length <= 10 ? xs : undefined, short),
  );
  for (const r of chart.references) {
    root.append(
      svg('line', { class: 'reference', x1: box.left, x2: box.left + box.width, y1: at(r.value), y2: at(r.value) }),
      svg('text', { class: 'reference-text', x: box.left + box.width - 2, y: at(r.value) - 4, 'text-anchor': 'end' }, r.text),
    );
  }
  chart.groups.forEach((g, k) => {
    // Groups that share an x stand side by side, a few pixels apart.
    const shift = (k - (chart.groups.length - 1) / 2) * Math.min(7, 60 / chart.groups.length);
    const path = line<{ x: number; y: number }>()
      .x((d) => x(d.x) + shift)
      .y((d) => at(d.y));
    root.appendChild(
      styled(svg('path', { class: 'line thin', d: path(g.means) ?? '', 'stroke-dasharray': g.look.dash || 'none' }), {
        stroke: g.look.colour,
      }),
    );
    for (const d of g.dots) {
      const dot = styled(
        svg('path', { class: 'dot', d: kMarks[g.look.mark], transform: `translate(${x(d.x) + shift},${at(d.y)})` }),
        { fill: g.look.colour },
      );
      dot.addEventListener('pointerenter', (event) =>
        tooltip.show(
          event.clientX,
          event.clientY,
          h('b', null, g.name),
          h('div', null, d.text),
          h('div', null, `loss ${short(d.y, 4)}`),
        ),
      );
      dot.addEventListener('pointerleave', tooltip.hide);
      root.appendChild(dot);
    }
  });
  return root;
}
