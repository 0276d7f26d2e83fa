// What probes measured, by name: where its numbers stand, how they are scaled, and what a reader should look for.
import type { Probes } from './data';
import { unpack } from './packed';

export interface Metric {
  id: string;
  title: string;
  log: boolean;
  by: 'place' | 'unit';
  range?: [number, number]; // of a linear scale
  word?: string; // of the glossary, which says what it is
  read: string; // how to read it, with [[words]] of the glossary
  values: (p: Probes) => Float32Array;
}

function ratio(p: Probes): Float32Array {
  const skip = unpack(p.gradient_skip),
    branch = unpack(p.gradient_branch);
  return skip.map((s, i) => s / (s + branch[i]));
}

export const kMetrics: Metric[] = [
  {
    id: 'gradient_norm',
    title: 'Gradient norm',
    log: true,
    by: 'place',
    values: (p) => unpack(p.gradient_norm),
    read: 'How much of the loss is heard at each [[place]] of the stream. Where the lower part of a map turns dark, those layers learn nothing any more.',
  },
  {
    id: 'stream_rms',
    title: 'Stream RMS',
    log: true,
    by: 'place',
    values: (p) => unpack(p.stream_rms),
    read: 'The size of the [[residual stream]]. Norms after the sum pin it to 1; without them every [[branch]] adds to it.',
  },
  {
    id: 'spread',
    title: 'Spread between tokens',
    log: true,
    by: 'place',
    values: (p) => unpack(p.spread),
    word: 'spread',
    read: 'Near 0 nothing above can distinguish the tokens.',
  },
  {
    id: 'update_ratio',
    title: 'Update-to-stream ratio',
    log: true,
    by: 'unit',
    values: (p) => unpack(p.update_ratio),
    word: 'update-to-stream ratio',
    read: 'Near 0 a [[unit]] changes hardly anything.',
  },
  {
    id: 'skip_share',
    title: 'Skip share',
    log: false,
    by: 'unit',
    range: [0, 1],
    values: (p) => (p.skip_share ? unpack(p.skip_share) : ratio(p)),
    read: 'The part of the gradient that comes down along the [[skip]], of both parts (of the stream itself where full probes were recorded). 1: all of it passes by the branch.',
  },
  {
    id: 'attention_entropy',
    title: 'Attention entropy',
    log: false,
    by: 'unit',
    range: [0, 1],
    values: (p) => unpack(p.attention_entropy),
    word: 'attention entropy',
    read: 'Feed-forward [[units|unit]] have none and are left out.',
  },
  {
    id: 'max_logit',
    title: 'Largest attention score',
    log: true,
    by: 'unit',
    values: (p) => unpack(p.max_logit),
    read: 'The largest score before softmax. Where it grows without end, attention collapses onto single tokens.',
  },
  {
    id: 'cosine',
    title: 'Cosine before and after',
    log: false,
    by: 'unit',
    range: [-1, 1],
    values: (p) => unpack(p.cosine),
    read: 'How far a [[unit]] leaves the direction of the stream as it was: 1 means it changed nothing.',
  },
];

export interface Matrix {
  columns: number; // records
  rows: number; // places or units
  step: number[];
  names: string[]; // of rows, from the bottom of the stack
  at: (column: number, row: number) => number; // NaN: nothing
}

export function place_name(unit: string): string {
  const match = /^layers\.(\d+)\.(\w+)$/.exec(unit);
  if (!match) return unit;
  const what: Record<string, string> = { self: 'attention', ffn: 'feed-forward', cross: 'cross-attention' };
  return `layer ${Number(match[1]) + 1}, ${what[match[2]] ?? match[2]}`;
}

export function matrix_of(p: Probes, metric: Metric): Matrix | undefined {
  const values = metric.values(p);
  const rows = p.units.length + (metric.by === 'place' ? 1 : 0);
  const columns = p.step.length;
  if (!values.length || values.length < rows * columns) return undefined;
  const units = p.units.map(place_name);
  const names = metric.by === 'place' ? ['input of the stack', ...units.map((n) => `after ${n}`)] : units;
  // Units that have no such thing (attention in a feed-forward part) are left out.
  const kept = names.map((_, r) => r).filter((r) => p.step.some((_, c) => Number.isFinite(values[c * rows + r])));
  if (!kept.length) return undefined;
  return { columns, rows: kept.length, step: p.step, names: kept.map((r) => names[r]), at: (c, r) => values[c * rows + kept[r]] };
}

/** Of the steps that several runs were probed at those of the run that went on longest: what a slider goes through. */
export function longest_steps(runs: number[][]): number[] {
  const last = (steps: number[]): number => steps[steps.length - 1] ?? -1;
  return runs.reduce((a, b) => (last(b) > last(a) || (last(b) === last(a) && b.length > a.length) ? b : a), []);
}

/** Least and greatest over many matrices: what makes one colour scale serve all. On a log scale eight powers of ten at most. */
export function common_range(all: Matrix[], metric: Metric): [number, number] {
  if (metric.range) return metric.range;
  let low = Infinity,
    high = -Infinity;
  for (const m of all)
    for (let c = 0; c < m.columns; ++c)
      for (let r = 0; r < m.rows; ++r) {
        const v = m.at(c, r);
        if (!Number.isFinite(v) || (metric.log && v <= 0)) continue;
        if (v < low) low = v;
        if (v > high) high = v;
      }
  if (low > high) return metric.log ? [0.1, 10] : [0, 1];
  if (metric.log) return [Math.max(low, high * 1e-8), high === low ? high * 10 : high];
  return [low, high === low ? low + 1 : high];
}
