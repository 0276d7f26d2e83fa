// Depth against step as colours. The cells are one small picture, scaled up, so that many maps stay quick: a row of it for each
// place, and as many columns as it takes to draw the narrowest records.
import { interpolateViridis } from 'd3-scale-chromatic';
import { h, svg } from '../dom';
import { short } from '../numbers';
import type { Matrix, Metric } from '../metrics';
import * as tooltip from '../tooltip';
import { column_at, even_columns, step_columns, type Columns, type StepAxis } from './columns';
import { log_ticks, sound, tick_text, type Scale } from './axes';
import { chart_root } from './root';
import { scaleLinear, scaleLog } from 'd3-scale';

/** 0..1 on the common scale, or NaN. What is below the scale counts as its lower end. */
export function share_of(value: number, range: [number, number], log: boolean): number {
  if (!Number.isFinite(value)) return NaN;
  if (log) return value <= 0 ? 0 : clamp(Math.log(value / range[0]) / Math.log(range[1] / range[0]));
  return clamp((value - range[0]) / (range[1] - range[0]));
}

function clamp(v: number): number {
  return Math.max(0, Math.min(1, v));
}

const kTable: [number, number, number][] = Array.from({ length: 256 }, (_, i) => {
  const hex = Number.parseInt(interpolateViridis(i / 255).slice(1), 16);
  return [hex >> 16, (hex >> 8) & 255, hex & 255];
});

/** Which column each pixel of a row is of: two for each of the screen's. */
function pixels_of(columns: Columns): number[] {
  const width = columns.edges[columns.edges.length - 1];
  const count = Math.max(1, Math.round(2 * width));
  return Array.from({ length: count }, (_, i) => column_at(columns, ((i + 0.5) * width) / count));
}

function picture(matrix: Matrix, columns: Columns, range: [number, number], log: boolean): string {
  const pixels = pixels_of(columns);
  const canvas = document.createElement('canvas');
  canvas.width = pixels.length;
  canvas.height = matrix.rows;
  const context = canvas.getContext('2d');
  if (!context) return '';
  const image = context.createImageData(pixels.length, matrix.rows);
  for (let r = 0; r < matrix.rows; ++r)
    for (let i = 0; i < pixels.length; ++i) {
      const share = share_of(matrix.at(pixels[i], matrix.rows - 1 - r), range, log); // the top of the stack is the top of the picture
      const at = 4 * (r * pixels.length + i);
      if (Number.isNaN(share)) continue; // see-through
      const [red, green, blue] = kTable[Math.round(share * 255)];
      image.data.set([red, green, blue, 255], at);
    }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL('image/png');
}

export interface HeatMap {
  title: string;
  matrix: Matrix;
  metric: Metric;
  range: [number, number];
  height?: number;
  chosen?: { column: number; row: number };
  /** A cell was clicked, or Enter pressed on it. */
  choose?: (column: number, row: number) => void;
  /** How steps are spaced. Without it columns are no steps, and of one width. */
  axis?: StepAxis;
  x_label?: string;
  column_name?: (column: number) => string;
}

export function heat_map(map: HeatMap, width: number): SVGSVGElement {
  const { matrix } = map;
  const left = 30,
    top = 6,
    bottom = 32;
  const height = map.height ?? 190;
  const inner = { width: width - left - 6, height: height - top - bottom };
  const columns = map.axis ? step_columns(matrix.step, inner.width, map.axis) : even_columns(matrix.columns, inner.width);
  const width_of = (c: number): number => columns.edges[c + 1] - columns.edges[c];
  const cell_height = inner.height / matrix.rows;
  const root = chart_root(
    width,
    height,
    `${map.metric.title} of ${map.title}, depth against step. Arrow keys move, Enter opens the history of a unit.`,
    { class: 'chart heat', tabindex: '0', 'data-range': map.range.join(' ') },
  );
  const image = svg('image', {
    x: left,
    y: top,
    width: inner.width,
    height: inner.height,
    preserveAspectRatio: 'none',
    href: picture(matrix, columns, map.range, map.metric.log),
  });
  root.append(svg('rect', { class: 'void', x: left, y: top, width: inner.width, height: inner.height }), image);

  const bottom_edge = top + inner.height;
  for (const { at, text } of columns.ticks)
    root.append(
      svg('line', { class: 'tick', x1: left + at, x2: left + at, y1: bottom_edge, y2: bottom_edge + 3 }),
      svg('text', { class: 'tick-text', x: left + at, y: bottom_edge + 14, 'text-anchor': 'middle' }, text),
    );
  root.append(
    svg('text', { class: 'axis-label', x: left + inner.width, y: height - 4, 'text-anchor': 'end' }, map.x_label ?? (map.axis === 'log' ? 'step (log scale)' : 'step')),
    svg('text', { class: 'tick-text', x: left - 5, y: top + 9, 'text-anchor': 'end' }, 'top'),
    svg('text', { class: 'tick-text', x: left - 5, y: top + inner.height - 1, 'text-anchor': 'end' }, 'in'),
  );
  const frame = svg('rect', {
    class: 'cell',
    height: Math.max(cell_height, 3),
    visibility: 'hidden',
  });
  root.appendChild(frame);

  let at = map.chosen ?? { column: matrix.columns - 1, row: 0 };
  const mark = (): void => {
    frame.setAttribute('x', String(left + columns.edges[at.column]));
    frame.setAttribute('y', String(top + (matrix.rows - 1 - at.row) * cell_height));
    frame.setAttribute('width', String(Math.max(width_of(at.column), 3)));
    frame.setAttribute('visibility', 'visible');
  };
  const show_at = (x: number, y: number): void => {
    mark();
    const value = matrix.at(at.column, at.row);
    tooltip.show(
      x,
      y,
      h('b', null, map.title),
      h('div', null, matrix.names[at.row]),
      h('div', null, map.column_name ? map.column_name(at.column) : `step ${matrix.step[at.column]}`),
      h('div', null, `${map.metric.title}: `, h('b', null, Number.isFinite(value) ? short(value) : 'nothing measured')),
    );
  };
  const find = (event: PointerEvent | MouseEvent): boolean => {
    const box = root.getBoundingClientRect();
    const column = column_at(columns, (event.clientX - box.left) * (width / box.width) - left);
    const row = matrix.rows - 1 - Math.floor(((event.clientY - box.top) * (height / box.height) - top) / cell_height);
    if (column < 0 || row < 0 || column >= matrix.columns || row >= matrix.rows) return false;
    at = { column, row };
    return true;
  };
  const leave = (): void => {
    tooltip.hide();
    if (map.chosen) {
      at = map.chosen;
      mark();
    } else frame.setAttribute('visibility', 'hidden');
  };
  if (map.chosen) mark();
  root.addEventListener('pointermove', (event) => (find(event) ? show_at(event.clientX, event.clientY) : leave()));
  root.addEventListener('pointerleave', leave);
  root.addEventListener('blur', leave);
  root.addEventListener('click', (event) => find(event) && map.choose?.(at.column, at.row));
  root.addEventListener('keydown', (event) => {
    const moves: Record<string, [number, number]> = {
      ArrowRight: [1, 0],
      ArrowLeft: [-1, 0],
      ArrowUp: [0, 1],
      ArrowDown: [0, -1],
    };
    const move = moves[event.key];
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      map.choose?.(at.column, at.row);
    }
    if (!move) return;
    event.preventDefault();
    at = {
      column: Math.max(0, Math.min(matrix.columns - 1, at.column + move[0])),
      row: Math.max(0, Math.min(matrix.rows - 1, at.row + move[1])),
    };
    const box = root.getBoundingClientRect();
    show_at(
      box.left + (left + columns.edges[at.column]) * (box.width / width),
      box.top + (top + (matrix.rows - at.row) * cell_height) * (box.height / height),
    );
  });
  return root;
}

/** The scale that all maps of a view share. */
export function colour_bar(metric: Metric, range: [number, number], width: number): SVGSVGElement {
  const height = 40,
    left = 12,
    inner = Math.min(420, width - 24);
  const scale = (metric.log ? scaleLog() : scaleLinear())
    .domain(sound(range[0], range[1], metric.log))
    .range([left, left + inner]) as unknown as Scale;
  const steps = 64;
  const ticks = metric.log ? log_ticks(scale, Math.floor(inner / 50)) : scale.ticks(5);
  return chart_root(
    width,
    height,
    `Colour scale from ${short(range[0])} to ${short(range[1])}`,
    { 'data-range': range.join(' ') },
    Array.from({ length: steps }, (_, i) =>
      svg('rect', {
        x: left + (i * inner) / steps,
        y: 4,
        width: inner / steps + 0.7,
        height: 12,
        fill: interpolateViridis((i + 0.5) / steps),
      }),
    ),
    ticks.map((t) =>
      svg(
        'g',
        { transform: `translate(${scale(t)},16)` },
        svg('line', { class: 'tick', y2: 4 }),
        svg('text', { class: 'tick-text', y: 16, 'text-anchor': 'middle' }, tick_text(t, metric.log)),
      ),
    ),
  );
}
