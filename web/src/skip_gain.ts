// How much of a stack's input is left at its output on the skips alone: the closed form, and what runs of this page show.
import * as labs from './labs';
import { known } from './numbers';
import { unpack } from './packed';
import type { Preflight } from './results';

export interface Dot {
  layers: number;
  gain: number;
  from: string;
}

/** By the catalogue's curve; between its depths along a straight line of logarithms. */
export function closed_form(name: string, layers: number): number | null {
  const curve = labs.entry_of(name)?.gain;
  if (!curve?.layers?.length) return null;
  for (let i = 0; i < curve.layers.length; ++i) {
    const here = curve.gain[i];
    if (curve.layers[i] === layers) return here;
    const before = curve.gain[i - 1];
    if (curve.layers[i] > layers && i > 0 && known(here) && known(before) && here > 0 && before > 0) {
      const t = Math.log(layers / curve.layers[i - 1]) / Math.log(curve.layers[i] / curve.layers[i - 1]);
      return Math.exp(Math.log(before) * (1 - t) + Math.log(here) * t);
    }
  }
  return null;
}

/**
 * From the first probed step of a run. Where nothing stands after the sum, x_K holds x_0 as it was, so the share is |x_0| / |x_K|.
 * Where a norm does, every unit keeps a |s| of |a s + f|; f is taken to be at right angles to s, as it is at initialisation.
 */
function from_probes(row: labs.Row): number | null {
  const probes = labs.probes_of(labs.runs_of(row).find((run) => labs.probes_of(run)));
  if (!probes) return null;
  const rms = unpack(probes.stream_rms),
    ratio = unpack(probes.update_ratio);
  const units = probes.units.length,
    text = labs.formula_of(row);
  if (rms.length <= units || ratio.length < units) return null;
  if (/^x' = x \+ /.test(text)) return rms[0] / rms[units];
  const a =
    /^x' = LN\(α·x/.test(text) && row.arrangement === 'deepnorm'
      ? (2 * row.layers) ** 0.25
      : /^x' = LN\(x \+ F/.test(text) || /^u = LN\(x\); x' = u \+ F\(u\)/.test(text)
        ? 1
        : NaN;
  if (!Number.isFinite(a)) return null;
  let gain = 1;
  for (let i = 0; i < units; ++i) {
    const f = text.startsWith('u') ? ratio[i] * rms[i] : ratio[i]; // there s = LN(x), of size 1
    gain *= a / Math.sqrt(a * a + f * f);
  }
  return gain;
}

export function measured(name: string, preflights: Preflight[]): Dot[] {
  const out: Dot[] = [];
  for (const table of labs.all())
    for (const row of table.rows) {
      if (row.arrangement !== name || !known(row.layers)) continue;
      const stored = row.prediction?.skip_gain_measured;
      const gain = known(stored) ? stored : from_probes(row);
      if (known(gain) && gain > 0)
        out.push({ layers: row.layers, gain, from: known(stored) ? `preflight of ${row.label}` : `first step of ${row.label}` });
    }
  for (const p of preflights)
    if (p.options?.arrangement === name && known(p.skip_gain_measured) && p.skip_gain_measured > 0)
      out.push({ layers: Number(p.options?.layers), gain: p.skip_gain_measured, from: `preflight ${p.name}` });
  return out.filter((d) => Number.isFinite(d.layers));
}

export interface Reach {
  from: string; // the row that was probed
  first: { step: number; ratio: number };
  last: { step: number; ratio: number };
}

/** The norm of the gradient at the bottom over that at the top, at the first and the last probed step of a run of this lab. */
export function bottom_over_top(name: string): Reach | undefined {
  for (const row of labs.current()?.rows ?? []) {
    const probes = row.arrangement === name ? labs.probes_of(labs.runs_of(row).find((run) => labs.probes_of(run))) : undefined;
    if (!probes || probes.step.length < 2) continue;
    const gradient = unpack(probes.gradient_norm),
      places = probes.units.length + 1;
    const at = (record: number): { step: number; ratio: number } => ({
      step: probes.step[record],
      ratio: gradient[record * places] / gradient[(record + 1) * places - 1],
    });
    const first = at(0),
      last = at(probes.step.length - 1);
    if (Number.isFinite(first.ratio) && Number.isFinite(last.ratio)) return { from: row.label, first, last };
  }
  return undefined;
}
