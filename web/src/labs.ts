// Labs as the views want them: rows with the curves of their seeds put together. Runs of `train` are shown as one more lab.
import type { Curve, Lab, LabRow, LabRun, Probes, ReportData } from './data';
import { differing, said } from './differences';
import { known, mean } from './numbers';
import { look_of, type Look } from './palette';
import type { Arrangement } from './results';
import * as state from './state';

export interface Together {
  x: number[];
  y: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}

export interface Row extends LabRow {
  index: number;
  of: Lab;
  layers: number;
  rate: number;
  warmup: number;
  look: Look;
}

export interface Table {
  lab: Lab;
  rows: Row[];
}

function option(row: LabRow, name: string): number {
  const value = row.options?.[name] ?? row.asked?.[name];
  return typeof value === 'number' ? value : NaN;
}

function table_of(lab: Lab): Table {
  const seen = new Map<string, number>();
  const rows = (lab.rows ?? []).map((row, index): Row => {
    const key = `${row.act ?? 0} ${row.arrangement}`;
    const variant = seen.get(key) ?? 0;
    seen.set(key, variant + 1);
    return {
      ...row,
      runs: row.runs ?? [],
      index,
      of: lab,
      layers: option(row, 'layers'),
      rate: option(row, 'lr'),
      warmup: option(row, 'warmup_steps'),
      look: look_of(row.arrangement, variant),
    };
  });
  return { lab, rows };
}

const of_trains = new WeakSet<Lab>(); // labs that are none: runs of `train`, which go by their own names

function lab_of_trains(data: ReportData): Lab | null {
  const trains = data.trains ?? [];
  if (!trains.length) return null;
  const runs: LabRun[] = trains.map((t) => ({
    folder: t.name,
    curve: t.curve,
    gradient_curve: t.gradient_curve,
    rate_curve: t.rate_curve,
    probes: t.probes,
    validation: t.validation,
    broke_off: t.stopped,
    steps: Number(t.options?.steps ?? NaN),
    loss: tail(t.curve?.loss ?? []),
    state: 'done',
  }));
  const rows: LabRow[] = trains.map((t, i) => ({
    label: t.name,
    arrangement: String(t.options?.arrangement ?? '?'),
    formula: t.formula,
    options: t.options,
    runs: [i],
    baselines: t.baselines,
    loss: { mean: tail(t.curve?.loss ?? []), deviation: null, least: null, most: null, count: 1 },
    happened: t.stopped ? 'broke off' : undefined,
  }));
  const lab: Lab = { name: 'Training runs', rows, runs };
  of_trains.add(lab);
  return lab;
}

function tail(losses: (number | null)[]): number | null {
  const last = losses.slice(-Math.max(1, Math.round(losses.length / 15))).filter(known);
  return last.length ? mean(last) : null;
}

let tables: Table[] = [];
let catalogue = new Map<string, Arrangement>();

export function prepare(data: ReportData): void {
  const trains = lab_of_trains(data);
  tables = [...(data.labs ?? []), ...(trains ? [trains] : [])].filter((l) => l.rows?.length).map(table_of);
  catalogue = new Map((data.arrangements ?? []).map((a) => [a.name, a]));
}

export function all(): Table[] {
  return tables;
}

export function current(): Table | undefined {
  return tables[state.number('lab', 0)] ?? tables[0];
}

export function entry_of(name: string): Arrangement | undefined {
  return catalogue.get(name);
}

export function formula_of(row: LabRow): string {
  return row.formula ?? catalogue.get(row.arrangement)?.formula ?? '';
}

export function runs_of(row: Row): LabRun[] {
  return row.runs.map((i) => row.of.runs[i]).filter((r): r is LabRun => !!r);
}

export function probes_of(run: LabRun | undefined): Probes | undefined {
  const stacks = run?.probes ?? [];
  return stacks.find((s) => s.stack === state.get('stack')) ?? stacks[stacks.length - 1];
}

/** The rows with looks that distinguish those of one arrangement, also where they are of several parts of the lab. */
export function looking_different(rows: Row[]): Row[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const variant = seen.get(row.arrangement) ?? 0;
    seen.set(row.arrangement, variant + 1);
    return { ...row, look: look_of(row.arrangement, variant) };
  });
}

/** The name of a row among others: what all of them share is left out. */
export function name_among(row: Row, others: Row[]): string {
  if (of_trains.has(row.of)) return row.label;
  const same = others.filter((o) => o.arrangement === row.arrangement);
  if (same.length < 2) return row.arrangement;
  const parts: string[] = [];
  if (new Set(same.map((o) => o.layers)).size > 1) parts.push(`${row.layers}L`);
  if (new Set(same.map((o) => o.rate)).size > 1) parts.push(`lr ${row.rate}`);
  if (new Set(same.map((o) => o.warmup)).size > 1) parts.push(row.warmup ? `warm-up ${row.warmup}` : 'no warm-up');
  parts.push(...differing(same).map((name) => said(row, name)));
  return parts.length ? `${row.arrangement} (${parts.join(', ')})` : row.label_in_act || row.label || row.arrangement;
}

const cache = new WeakMap<Row, Together>();

const kMostPoints = 500;

/** Means over blocks of steps: the program does this already, but a curve may come from elsewhere. */
function thinned(curve: Curve): Curve {
  const block = Math.ceil(curve.step.length / kMostPoints);
  if (block < 2) return curve;
  const out = {
    step: [] as number[],
    loss: [] as (number | null)[],
    least: [] as (number | null)[],
    most: [] as (number | null)[],
  };
  for (let i = 0; i < curve.step.length; i += block) {
    const of = (list: (number | null)[]): number[] => list.slice(i, i + block).filter(known);
    const values = of(curve.loss);
    out.step.push(curve.step[Math.min(i + block, curve.step.length) - 1]);
    out.loss.push(values.length ? mean(values) : null);
    out.least.push(values.length ? Math.min(...values, ...of(curve.least ?? [])) : null);
    out.most.push(values.length ? Math.max(...values, ...of(curve.most ?? [])) : null);
  }
  return out;
}

/** Mean, least and greatest over the seeds at every step that the longest curve has; of a single run, over the steps of each block. */
export function together(row: Row): Together {
  const known_already = cache.get(row);
  if (known_already) return known_already;
  const curves = runs_of(row).flatMap((r) => (r.curve?.step?.length ? [thinned(r.curve)] : []));
  const longest = curves.reduce((a, b) => (b.step.length > a.step.length ? b : a), curves[0]);
  const out: Together = { x: longest?.step ?? [], y: [], low: [], high: [] };
  const [single] = curves.length === 1 ? curves : [];
  out.x.forEach((step, i) => {
    if (single) {
      out.y.push(single.loss[i]);
      out.low.push(single.least?.[i] ?? single.loss[i]);
      out.high.push(single.most?.[i] ?? single.loss[i]);
      return;
    }
    const values = curves.map((c) => (c.step[i] === step ? c.loss[i] : null)).filter(known);
    out.y.push(values.length ? mean(values) : null);
    out.low.push(values.length ? Math.min(...values) : null);
    out.high.push(values.length ? Math.max(...values) : null);
  });
  cache.set(row, out);
  return out;
}

const kOpen = ['unknown', 'too short to tell']; // words that the program writes where there is no verdict

/** Runs are done, and long enough for a verdict. */
export function judged(row: LabRow): boolean {
  return !!row.happened && known(row.trained) && !kOpen.includes(row.happened);
}

/** What happened, in a word: a row that only needs more steps is slow, and has not failed. */
export function outcome_of(row: LabRow): string | undefined {
  return row.slow && judged(row) ? 'slow' : row.happened;
}

/** Running mean over `width` points, for lines that single batches make noisy. */
export function smooth(values: (number | null)[], width: number): (number | null)[] {
  const half = width >> 1;
  return values.map((v, i) => {
    if (!known(v)) return null;
    const near = values.slice(Math.max(0, i - half), i + half + 1).filter(known);
    return mean(near);
  });
}
