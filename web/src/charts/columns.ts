// The columns of a heat map. Records are not taken at even steps, so columns are as wide as the steps they stand for.
import { tick_text } from './axes';

export interface Columns {
  edges: number[]; // in pixels, from the left; one more than there are columns
  ticks: { at: number; text: string }[];
}

export type StepAxis = 'log' | 'linear';

/** Columns of one width, each with its number. */
export function even_columns(count: number, width: number): Columns {
  const each = width / count;
  const every = Math.max(1, Math.ceil(34 / each));
  return {
    edges: Array.from({ length: count + 1 }, (_, c) => c * each),
    ticks: Array.from({ length: Math.ceil(count / every) }, (_, i) => ({ at: (i * every + 0.5) * each, text: String(i * every) })),
  };
}

function ascends(steps: number[]): boolean {
  return steps.every((s, i) => Number.isFinite(s) && s >= 0 && (i === 0 || s > steps[i - 1]));
}

/** 1, 2, 5, 10, ... or evenly spaced round numbers; the rounder ones first where there is no room for all. */
function round_steps(first: number, last: number, axis: StepAxis): number[][] {
  const powers = Array.from({ length: 16 }, (_, e) => 10 ** e);
  const within = (all: number[]): number[] => all.filter((s) => s >= first && s <= last);
  if (axis === 'log') return [powers, powers.map((p) => 2 * p), powers.map((p) => 5 * p)].map(within);
  const rough = (last - first) / 8;
  const unit = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const each = unit * (rough > 5 * unit ? 10 : rough > 2 * unit ? 5 : rough > unit ? 2 : 1);
  const all = Array.from({ length: Math.floor(last / each) + 1 }, (_, i) => i * each);
  return [within([Math.max(first, 0)]), within(all)];
}

/** A record stands for the steps that are nearer to it than to any other: on a log scale by their ratio. */
export function step_columns(steps: number[], width: number, axis: StepAxis): Columns {
  if (!ascends(steps)) return even_columns(Math.max(1, steps.length), width);
  const place = (step: number): number => (axis === 'log' ? Math.log(Math.max(step, 0.5)) : step);
  const at = steps.map(place),
    n = at.length;
  const half = (i: number): number => (n > 1 ? (at[i + 1] - at[i]) / 2 : 0.5);
  const edges = [at[0] - half(0), ...at.slice(1).map((t, i) => (t + at[i]) / 2), at[n - 1] + half(n - 2)];
  const pixels = (t: number): number => ((t - edges[0]) / (edges[n] - edges[0])) * width;
  const ticks: Columns['ticks'] = [];
  for (const rank of round_steps(steps[0], steps[n - 1], axis))
    for (const step of rank) {
      const x = pixels(place(step));
      if (ticks.every((t) => Math.abs(t.at - x) >= 26)) ticks.push({ at: x, text: tick_text(step, false) });
    }
  return { edges: edges.map(pixels), ticks: ticks.sort((a, b) => a.at - b.at) };
}

/** The column at a pixel; -1 beside all of them. */
export function column_at(columns: Columns, x: number): number {
  const { edges } = columns;
  if (!(x >= 0) || x >= edges[edges.length - 1]) return -1;
  let c = 0;
  while (x >= edges[c + 1]) ++c;
  return c;
}
