// Lines over a common x: means with their range shaded, lines of reference, labels at the ends, a reading under the pointer.
import { area, line } from 'd3-shape';
import { scaleLinear, scaleLog } from 'd3-scale';
import { styled, svg } from '../dom';
import { known } from '../numbers';
import { kMarks, type Look } from '../palette';
import { apart, sound, x_axis, y_axis, type Box, type Scale } from './axes';
import { add_reading } from './reading';
import { chart_root } from './root';
import { turns } from './turns';

export interface Series {
  name: string;
  look: Look;
  x: number[];
  y: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
  points?: boolean; // marks instead of a line
  faint?: boolean;
}

export interface LineChart {
  series: Series[];
  x_label: string;
  y_label: string;
  references?: { value: number; text: string }[];
  height?: number;
  log_x?: boolean;
  log_y?: boolean;
  y_domain?: [number, number];
  label_ends?: boolean;
  marker?: { x: number; text: string };
  x_name?: (x: number) => string; // what stands there, for readings
  describe: string; // for those who do not see it
}

/** The least and greatest number drawn. */
function extent(chart: LineChart): [number, number] {
  if (chart.y_domain) return chart.y_domain;
  let low = Infinity,
    high = -Infinity;
  const see = (v: number | null | undefined): void => {
    if (!known(v) || (chart.log_y && v <= 0)) return;
    low = Math.min(low, v);
    high = Math.max(high, v);
  };
  for (const s of chart.series) for (const list of [s.y, s.low, s.high]) list?.forEach(see);
  for (const r of chart.references ?? []) see(r.value);
  if (low > high) return chart.log_y ? [0.1, 10] : [0, 1];
  if (chart.log_y) return low === high ? [low / 3, high * 3] : [low / 1.2, high * 1.2];
  const pad = (high - low || Math.abs(high) || 1) * 0.05;
  return [low - pad, high + pad];
}

let clips = 0;

/** A tenth of a pixel is as exact as anyone can see, and keeps saved figures small. */
function tenth(v: number): number {
  return Math.round(v * 10) / 10;
}

function cut(text: string, letters: number): string {
  return text.length > letters + 1 ? `${text.slice(0, Math.max(1, Math.floor(letters) - 1))}…` : text;
}

function letters_in(pixels: number): number {
  return pixels / 6.6;
}

/** Whether names that differ still do when they are cut. */
function differ_cut(series: Series[], letters: number): boolean {
  const names = [...new Set(series.map((s) => s.name))];
  return new Set(names.map((name) => cut(name, letters))).size === names.length;
}

export function line_chart(chart: LineChart, width: number): SVGSVGElement {
  const height = chart.height ?? Math.max(220, Math.min(380, width * 0.5));
  const longest = Math.max(
    0,
    ...chart.series.map((s) => s.name.length),
    ...(chart.references ?? []).map((r) => r.text.length * 0.9),
  );
  const room = Math.min(190, longest * 6.7 + 26);
  const label_ends =
    chart.label_ends !== false && width > 480 && chart.series.length <= 14 && differ_cut(chart.series, letters_in(room - 20));
  const names = chart.series
    .filter((s) => s.name)
    .map((s) => ({ name: s.name, look: s.look, width: Math.min(width - 6, 38 + s.name.length * 7) }));
  const rows = label_ends || names.length > 14 || names.length < 2 ? [] : wrapped(names, width);
  const box: Box = { left: long_ticks(chart) ? 60 : 46, top: 30, width: 0, height: height - 30 - 44 };
  box.width = width - box.left - (label_ends ? room : 14);
  const xs = chart.series.flatMap((s) => [s.x[0], s.x[s.x.length - 1]]).filter(known);
  const x_domain = sound(Math.min(...xs), Math.max(...xs), chart.log_x);
  const x = (chart.log_x ? scaleLog() : scaleLinear())
    .domain(x_domain)
    .range([box.left, box.left + box.width]) as unknown as Scale & { invert(v: number): number };
  const y = (chart.log_y ? scaleLog() : scaleLinear())
    .domain(sound(...extent(chart), chart.log_y))
    .range([box.top + box.height, box.top]) as unknown as Scale;
  const drawable = (v: number | null | undefined): v is number => known(v) && (!chart.log_y || v > 0);
  const [y_low, y_high] = y.domain();
  const total = height + rows.length * 18;
  const at = (v: number): number => y(Math.max(y_low, Math.min(y_high, v)));

  const root = chart_root(width, total, chart.describe);
  const whole = !chart.log_x && chart.series.every((s) => s.x.every(Number.isInteger));
  root.append(
    y_axis(y, box, chart.y_label, chart.log_y),
    x_axis(
      x,
      box,
      chart.x_label,
      chart.log_x,
      whole ? x.ticks(Math.max(2, Math.floor(box.width / 80))).filter(Number.isInteger) : undefined,
    ),
  );
  const clip = `clip-${++clips}`;
  root.appendChild(
    svg('clipPath', { id: clip }, svg('rect', { x: box.left, y: box.top - 4, width: box.width + 3, height: box.height + 6 })),
  );

  const right = box.left + box.width;
  const labels: { y: number; text: string; look?: Look }[] = [];
  for (const r of chart.references ?? []) {
    if (!drawable(r.value) || r.value < y_low || r.value > y_high) continue;
    root.appendChild(svg('line', { class: 'reference', x1: box.left, x2: right, y1: at(r.value), y2: at(r.value) }));
    if (label_ends) labels.push({ y: at(r.value), text: r.text });
    else
      root.appendChild(
        svg('text', { class: 'reference-text', x: right - 2, y: at(r.value) - 4, 'text-anchor': 'end' }, r.text.split(':')[0]),
      );
  }
  if (chart.marker) {
    root.append(
      svg('line', { class: 'marker', x1: x(chart.marker.x), x2: x(chart.marker.x), y1: box.top, y2: box.top + box.height }),
      svg('text', { class: 'reference-text', x: x(chart.marker.x) + 4, y: box.top + 10 }, chart.marker.text),
    );
  }

  for (const s of chart.series) {
    const index = s.x.map((_, i) => i);
    const group = svg('g', { class: s.faint ? 'series faint' : 'series', 'data-series': s.name, 'clip-path': `url(#${clip})` });
    if (s.low && s.high) {
      const band = area<number>()
        .defined((i) => drawable(s.low?.[i]) && drawable(s.high?.[i]))
        .x((i) => tenth(x(s.x[i])))
        .y0((i) => tenth(y(s.low?.[i] as number)))
        .y1((i) => tenth(y(s.high?.[i] as number)));
      group.appendChild(styled(svg('path', { class: 'band', d: band(index) ?? '' }), { fill: s.look.colour }));
    }
    if (s.points || s.y.filter(drawable).length === 1) {
      index.forEach((i) => {
        if (drawable(s.y[i])) group.appendChild(mark_at(s.look, x(s.x[i]), at(s.y[i] as number)));
      });
    } else {
      const path = line<number>()
        .defined((i) => drawable(s.y[i]))
        .x((i) => tenth(x(s.x[i])))
        .y((i) => tenth(y(s.y[i] as number)));
      group.appendChild(
        styled(svg('path', { class: 'line', d: path(index) ?? '', 'stroke-dasharray': s.look.dash || 'none' }), {
          stroke: s.look.colour,
        }),
      );
    }
    root.appendChild(group);
    let last = s.y.length - 1;
    while (last >= 0 && !drawable(s.y[last])) --last;
    if (last >= 0 && label_ends) labels.push({ y: at(s.y[last] as number), text: s.name, look: s.look });
  }
  root.appendChild(lines_in_turn(chart, x, y, box, clip));
  const places = apart(
    labels.map((l) => l.y),
    14,
    box.top,
    box.top + box.height,
  );
  labels.forEach((l, i) => {
    if (l.look)
      root.append(
        styled(svg('path', { d: kMarks[l.look.mark], transform: `translate(${right + 9},${places[i]})` }), {
          fill: l.look.colour,
        }),
        svg('text', { class: 'end-label', x: right + 17, y: places[i], dy: '0.33em' }, cut(l.text, letters_in(width - right - 20))),
      );
    else root.appendChild(svg('text', { class: 'reference-text', x: right + 5, y: places[i], dy: '0.33em' }, l.text));
  });
  rows.forEach((row, i) =>
    row.forEach((e) =>
      root.append(
        styled(
          svg('path', { class: 'line', d: `M${e.x},${height + 6 + i * 18}h24`, 'stroke-dasharray': e.look.dash || 'none' }),
          { stroke: e.look.colour },
        ),
        styled(svg('path', { d: kMarks[e.look.mark], transform: `translate(${e.x + 12},${height + 6 + i * 18})` }), {
          fill: e.look.colour,
        }),
        svg('text', { class: 'end-label', x: e.x + 29, y: height + 6 + i * 18, dy: '0.33em' }, cut(e.name, letters_in(width - e.x - 32))),
      ),
    ),
  );
  add_reading(root, chart, box, x);
  return root;
}

function mark_at(look: Look, x: number, y: number): SVGPathElement {
  const mark = svg('path', { class: 'dot', d: kMarks[look.mark], transform: `translate(${tenth(x)},${tenth(y)})` });
  return styled(mark, { fill: look.colour });
}

/** Over lines that hide each other, stretches of each of them, some with its mark. */
function lines_in_turn(chart: LineChart, x: Scale, y: Scale, box: Box, clip: string): SVGGElement {
  const lines = chart.series.filter((s) => !s.points && !s.faint);
  const height = (v: number | null): number => (known(v) && (!chart.log_y || v > 0) ? y(v) : NaN);
  const own = turns(
    lines.map((s) => ({ colour: s.look.colour, x: s.x.map((v) => x(v)), y: s.y.map(height) })),
    box.left,
    box.left + box.width,
  );
  return svg(
    'g',
    { 'clip-path': `url(#${clip})` },
    lines.map((s, i) =>
      own[i].path
        ? [
            styled(svg('path', { class: 'line', 'data-turn': s.name, d: own[i].path }), { stroke: s.look.colour }),
            own[i].marks.map(([at_x, at_y]) => mark_at(s.look, at_x, at_y)),
          ]
        : null,
    ),
  );
}

/** Numbers below a thousandth are written with a power of ten, and need room. */
function long_ticks(chart: LineChart): boolean {
  const [low, high] = extent(chart);
  return !chart.log_y && Math.max(Math.abs(low), Math.abs(high)) < 5e-3;
}

interface Entry {
  name: string;
  look: Look;
  width: number;
  x?: number;
}

/** A legend in as many lines as it takes. */
function wrapped(entries: Entry[], width: number): Required<Entry>[][] {
  const rows: Required<Entry>[][] = [[]];
  let x = 6;
  for (const e of entries) {
    if (x > 6 && x + e.width > width) {
      rows.push([]);
      x = 6;
    }
    rows[rows.length - 1].push({ ...e, x });
    x += e.width + 8;
  }
  return rows;
}
