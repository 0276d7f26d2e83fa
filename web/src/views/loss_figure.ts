// Loss curves of some rows against the lines that show what a loss means: floor, bigram, unigram.
import { line_chart, type LineChart, type Series } from '../charts/line_chart';
import type { Table as Csv } from '../export';
import * as labs from '../labs';
import { known } from '../numbers';
import type { Child } from '../dom';
import { make_figure, type Figure } from '../figure';

const kMostBands = 14;

function references(rows: labs.Row[]): { value: number; text: string }[] {
  const first = rows[0]?.baselines;
  if (!first || rows.some((r) => r.baselines?.unigram !== first.unigram)) return []; // of different data
  return [
    { value: first.unigram, text: 'unigram: tokens counted' },
    { value: first.bigram, text: 'bigram: pairs counted' },
    { value: first.floor, text: 'floor: exact entropy' },
  ].filter((r): r is { value: number; text: string } => known(r.value));
}

/** What the lines of reference are called, each a word of the glossary. */
export function reference_words(rows: labs.Row[]): string[] {
  return references(rows).map((r) => r.text.split(':')[0]);
}

const kMostLines = 14;

/** Of a great many rows the most informative: the best and the worst of each arrangement. */
export function most_informative(rows: labs.Row[]): labs.Row[] {
  if (rows.length <= kMostLines) return rows;
  const out = new Set<labs.Row>();
  const ranked = [...new Set(rows.map((r) => r.arrangement))]
    .map((name) =>
      rows
        .filter((r) => r.arrangement === name && known(r.loss?.mean))
        .sort((a, b) => (a.loss?.mean as number) - (b.loss?.mean as number)),
    )
    .filter((own) => own.length);
  const longest = Math.max(0, ...ranked.map((own) => own.length));
  for (let k = 0; k < longest && out.size < kMostLines; ++k)
    for (const own of ranked) {
      const next = k % 2 ? own[own.length - (k + 1) / 2] : own[k / 2]; // best, worst, second best, ...
      if (next && k < own.length && out.size < kMostLines) out.add(next);
    }
  return out.size ? rows.filter((r) => out.has(r)) : rows.slice(0, kMostLines);
}

/** A single run whose blocks of steps have their least and greatest loss. */
export function spiky(row: labs.Row): boolean {
  const all = labs.together(row);
  return row.runs.length === 1 && all.high.some((v, i) => known(v) && v !== all.y[i]);
}

export function loss_chart(rows: labs.Row[], height?: number): LineChart {
  const lines = references(rows);
  const series: Series[] = rows.map((row) => {
    const all = labs.together(row);
    const calm = all.x.length > 100 ? 5 : 1;
    const seeds = row.runs.length > 1;
    const band = rows.length <= kMostBands && (seeds || spiky(row));
    const edge = seeds ? calm : 1; // a spike is to be seen at its full height
    return {
      name: labs.name_among(row, rows),
      look: row.look,
      x: all.x,
      y: labs.smooth(all.y, calm),
      ...(band ? { low: labs.smooth(all.low, edge), high: labs.smooth(all.high, edge) } : {}),
    };
  });
  if (rows.length <= 6)
    for (const row of rows)
      for (const { validation } of labs.runs_of(row))
        if (validation?.step?.length)
          series.push({
            name: `${labs.name_among(row, rows)}, validation`,
            look: row.look,
            x: validation.step,
            y: validation.loss,
            points: true,
          });
  const begin = (s: Series): number => (lines.length ? Math.max(0, Math.min(3, s.y.length - 1)) : 0);
  const finals = series.flatMap((s) => s.y.slice(begin(s))).filter(known);
  const values = [...finals, ...lines.map((l) => l.value)];
  const mean_top = values.length ? Math.max(...values) : 1,
    mean_bottom = values.length ? Math.min(...values) : 0;
  // Single steps may go beyond the means, as far as that leaves room for these.
  const room = 0.5 * (mean_top - mean_bottom);
  const single = rows.flatMap((row, i) => (spiky(row) && series[i].high ? [series[i]] : []));
  const lows = single.flatMap((s) => s.low?.slice(begin(s)) ?? []).filter(known),
    highs = single.flatMap((s) => s.high?.slice(begin(s)) ?? []).filter(known);
  const top = Math.min(
      mean_top + room,
      highs.reduce((a, b) => Math.max(a, b), mean_top),
    ),
    bottom = Math.max(
      mean_bottom - room,
      lows.reduce((a, b) => Math.min(a, b), mean_bottom),
    );
  const unigram = lines[0]?.value;
  // A run that explodes must not flatten all others.
  const cap = known(unigram) ? Math.min(top, unigram + 0.45 * (unigram - bottom)) : top;
  return {
    series,
    references: lines,
    x_label: 'step',
    y_label: 'loss, nats per token',
    height,
    y_domain: [bottom - 0.04 * (cap - bottom || 1), cap + 0.04 * (cap - bottom || 1)],
    describe: `Loss against training step of ${rows.length} configurations: ${series
      .slice(0, 12)
      .map((s) => s.name)
      .join(', ')}`,
  };
}

export function loss_table(rows: labs.Row[]): Csv {
  const out: Csv = { columns: ['configuration', 'seed', 'step', 'loss'], rows: [] };
  for (const row of rows)
    for (const run of labs.runs_of(row))
      run.curve?.step.forEach((step, i) => out.rows.push([row.label, run.seed, step, run.curve?.loss[i]]));
  return out;
}

/** Norm of the whole gradient, first seed of each row. */
export function gradient_figure(rows: labs.Row[]): HTMLElement | null {
  const series = rows.flatMap((row): Series[] => {
    const run = labs.runs_of(row).find((r) => r.gradient_curve?.length && r.curve);
    return run?.curve && run.gradient_curve
      ? [
          {
            name: labs.name_among(row, rows),
            look: row.look,
            x: run.curve.step,
            y: labs.smooth(run.gradient_curve, run.curve.step.length > 100 ? 5 : 1),
          },
        ]
      : [];
  });
  if (!series.length) return null;
  return make_figure({
    title: 'Gradient norm while training',
    note: 'Of all parameters together, before clipping; the first seed of each.',
    draw: (width) =>
      line_chart(
        {
          series,
          x_label: 'step',
          y_label: 'gradient norm',
          log_y: true,
          height: 300,
          describe: 'Gradient norm against training step',
        },
        width,
      ),
    table: () => ({
      columns: ['configuration', 'step', 'gradient norm'],
      rows: series.flatMap((s) => s.x.map((x, i) => [s.name, x, s.y[i]])),
    }),
  }).element;
}

export function loss_figure(title: string, rows: labs.Row[], note: Child, height?: number): Figure {
  return make_figure({
    title,
    note,
    draw: (width) => line_chart(loss_chart(rows, height), width),
    table: () => loss_table(rows),
    class: 'loss',
  });
}
