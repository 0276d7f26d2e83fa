// Axes and their ticks, drawn once for all charts.
import { svg } from '../dom';
import { power_of_ten, short } from '../numbers';

export interface Scale {
  (value: number): number;
  ticks(count?: number): number[];
  domain(): number[];
}

export interface Box {
  left: number;
  top: number;
  width: number; // of the inner part
  height: number;
}

/** A domain that scales can work with, whatever was measured: ticks of an infinite one would never end. */
export function sound(low: number, high: number, log = false): [number, number] {
  if (!Number.isFinite(low) || !Number.isFinite(high) || low > high || (log && low <= 0)) return log ? [0.1, 10] : [0, 1];
  if (low === high) return log ? [low / 2, high * 2] : [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)];
  return [low, high];
}

function is_power(value: number): boolean {
  const e = Math.log10(value);
  return Math.abs(e - Math.round(e)) < 1e-9;
}

/** On a log scale: powers of ten, as many as there is room for. */
export function log_ticks(scale: Scale, most: number): number[] {
  const [low, high] = scale.domain();
  const first = Math.ceil(Math.log10(low) - 1e-9),
    last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first < 2)
    return scale
      .ticks(most)
      .filter((v, _, all) => all.length <= most + 1 || is_power(v) || /^[25]/.test(String(v.toExponential())));
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  const out: number[] = [];
  for (let e = first; e <= last; e += every) out.push(10 ** e);
  return out;
}

export function tick_text(value: number, log: boolean): string {
  if (log && value > 0 && is_power(value) && (value >= 1e4 || value < 1e-2)) return power_of_ten(Math.round(Math.log10(value)));
  return short(value);
}

export function y_axis(scale: Scale, box: Box, label: string, log = false): SVGGElement {
  const ticks = log
    ? log_ticks(scale, Math.max(2, Math.floor(box.height / 34)))
    : scale.ticks(Math.max(2, Math.floor(box.height / 44)));
  return svg(
    'g',
    { class: 'axis' },
    ticks.map((v) =>
      svg(
        'g',
        { transform: `translate(${box.left},${scale(v).toFixed(1)})` },
        svg('line', { class: 'grid', x2: box.width }),
        svg('text', { x: -7, dy: '0.32em', 'text-anchor': 'end' }, tick_text(v, log)),
      ),
    ),
    svg('text', { class: 'axis-label', x: box.left, y: box.top - 12, 'text-anchor': 'start', dx: -box.left + 2 }, label),
  );
}

export function x_axis(
  scale: Scale,
  box: Box,
  label: string,
  log = false,
  given?: number[],
  text?: (v: number) => string,
): SVGGElement {
  const ticks =
    given ??
    (log ? log_ticks(scale, Math.max(2, Math.floor(box.width / 60))) : scale.ticks(Math.max(2, Math.floor(box.width / 80))));
  const bottom = box.top + box.height;
  return svg(
    'g',
    { class: 'axis' },
    svg('line', { class: 'base', x1: box.left, x2: box.left + box.width, y1: bottom, y2: bottom }),
    ticks.map((v) =>
      svg(
        'g',
        { transform: `translate(${scale(v).toFixed(1)},${bottom})` },
        svg('line', { class: 'tick', y2: 4 }),
        svg('text', { y: 17, 'text-anchor': 'middle' }, text ? text(v) : tick_text(v, log)),
      ),
    ),
    svg('text', { class: 'axis-label', x: box.left + box.width, y: bottom + 33, 'text-anchor': 'end' }, label),
  );
}

/** Moves labels apart that would lie on each other: wanted places in, places out, in the same order. */
export function apart(wanted: number[], least: number, low: number, high: number): number[] {
  const order = wanted.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y);
  for (let k = 1; k < order.length; ++k) order[k].y = Math.max(order[k].y, order[k - 1].y + least);
  let limit = high;
  for (let k = order.length - 1; k >= 0; --k) {
    order[k].y = Math.min(order[k].y, limit);
    limit = order[k].y - least;
  }
  const out = new Array<number>(wanted.length);
  for (const { y, i } of order) out[i] = Math.max(low, y);
  return out;
}
