// Unit by unit: the gradient split into its two ways, loss by depth and the dependency matrix where they were recorded.
import { heat_map } from '../charts/heat_map';
import { line_chart, type Series } from '../charts/line_chart';
import type { Probes } from '../data';
import { also_differ, besides_placement } from '../differences';
import { h, slider } from '../dom';
import { figure, make_figure } from '../figure';
import * as labs from '../labs';
import { longest_steps, place_name, type Matrix, type Metric } from '../metrics';
import { known } from '../numbers';
import { unpack } from '../packed';
import { look_of, type Look } from '../palette';
import { nothing } from '../parts';
import * as state from '../state';

interface Probed {
  name: string;
  row: labs.Row;
  look: Look;
  probes: Probes;
}

function probes_of(row: labs.Row): Probes | undefined {
  return labs.probes_of(labs.runs_of(row).find((run) => labs.probes_of(run)));
}

/** A row of each arrangement that was probed: the one that was chosen, and those that differ from it in as little as can be. */
function probed(names: string[]): Probed[] {
  const rows = (labs.current()?.rows ?? []).filter(probes_of);
  const of_name = [...new Set(names)].map((name) => rows.filter((r) => r.arrangement === name)).filter((own) => own.length);
  const wanted = state.number('row', -1);
  const first = of_name.flat().find((r) => r.index === wanted) ?? of_name[0]?.[0];
  return of_name.flatMap((own) => {
    const distance = own.map((r) => besides_placement(first, r).length);
    const row = own.includes(first) ? first : own[distance.indexOf(Math.min(...distance))];
    const probes = probes_of(row);
    return probes ? [{ name: row.arrangement, row, look: look_of(row.arrangement), probes }] : [];
  });
}

/** "Measured in: ...", and in what these rows differ besides the placement. */
function measured_in(all: Probed[]): string {
  const besides = [...new Set(all.flatMap((p) => besides_placement(all[0].row, p.row)))];
  return `Measured in: ${all.map((p) => p.row.label).join('; ')}.${also_differ(besides)}`;
}

function split_figure(all: Probed[]): HTMLElement {
  const steps = longest_steps(all.map((p) => p.probes.step)),
    most = steps.length;
  let record = Math.min(most - 1, Math.round(state.number('record', most - 1)));
  const series = (): Series[] =>
    all.flatMap(({ name, look, probes }) => {
      const units = probes.units.length,
        at = probes.step.indexOf(steps[record]); // a run that broke off has no such record
      if (at < 0) return [];
      const part = (list: Float32Array): (number | null)[] =>
        Array.from(list.subarray(at * units, (at + 1) * units), (v) => (Number.isFinite(v) ? v : null));
      const x = probes.units.map((_, i) => i + 1);
      return [
        { name: `${name}, skip`, look: { ...look, dash: '' }, x, y: part(unpack(probes.gradient_skip)) },
        { name: `${name}, branch`, look: { ...look, dash: '3 3' }, x, y: part(unpack(probes.gradient_branch)) },
      ].filter((s) => s.y.some((v) => known(v) && v > 0));
    });
  const drawn = make_figure({
    title: 'The gradient at each unit, by the two ways it came',
    level: 2,
    controls: slider(
      'At step',
      { min: 0, max: most - 1 },
      record,
      (v) => String(steps[v]),
      (v) => {
        record = v;
        state.set({ record: String(v) }, true);
        drawn.redraw();
      },
    ),
    note:
      'Full lines: the part of the gradient that came down along the skip, the "1 +" of the texts. Dashed: the part that came through the sub-layer. The two add up to the whole, bit for bit. Where a line falls to the left, lower units hear less of the loss. ' +
      measured_in(all),
    draw: (width) =>
      line_chart(
        {
          series: series(),
          x_label: 'unit, from the bottom',
          y_label: 'norm of the gradient',
          log_y: true,
          describe: 'Gradient along the skip and through the branch, unit by unit',
        },
        width,
      ),
    table: () => ({
      columns: ['series', 'unit', 'gradient norm'],
      rows: series().flatMap((s) => s.x.map((x, i) => [s.name, x, s.y[i]])),
    }),
  });
  return drawn.element;
}

function lens_figure(all: Probed[]): HTMLElement | null {
  const series = all.flatMap(({ name, look, probes }): Series[] => {
    const last = probes.full?.[probes.full.length - 1];
    if (!last?.lens_loss) return [];
    return [{ name: `${name}, step ${last.step}`, look, x: last.lens_loss.map((_, i) => i + 1), y: last.lens_loss }];
  });
  if (!series.length) return null;
  return figure({
    title: 'Loss by depth: if the stack ended here',
    level: 2,
    note: 'The head reads the stream after every unit (a logit lens). Where the line falls evenly each unit does its part; where it is flat the units add nothing that the head can use.',
    draw: (width) =>
      line_chart(
        {
          series,
          x_label: 'unit, from the bottom',
          y_label: 'loss, nats per token',
          describe: 'Loss if the stack ended after each unit',
        },
        width,
      ),
    table: () => ({ columns: ['series', 'unit', 'loss'], rows: series.flatMap((s) => s.x.map((x, i) => [s.name, x, s.y[i]])) }),
  });
}

const kShare: Metric = {
  id: 'dependency',
  title: 'Share of the variance',
  log: false,
  by: 'unit',
  range: [0, 1],
  read: '',
  values: () => new Float32Array(0),
};

function dependency_figure({ name, probes }: Probed): HTMLElement | null {
  const last = probes.full?.[probes.full.length - 1];
  const shares = last?.dependency;
  if (!shares?.length) return null;
  const parts = ['embedding', ...probes.units.map(place_name), 'biases of norms'];
  const places = ['input of the stack', ...probes.units.map((u) => `after ${place_name(u)}`)];
  const matrix: Matrix = {
    columns: shares[0].length,
    rows: shares.length,
    step: shares[0].map((_, i) => i),
    names: places,
    at: (c, r) => shares[r]?.[c] ?? NaN,
  };
  const most = Math.max(0.1, ...shares.flat().filter(known));
  return figure({
    title: `What the stream of ${name} is made of`,
    class: 'map',
    note: `Step ${last?.step}. Bottom to top: places on the stream; left to right: what was added, the embedding first. Each line adds up to 1.`,
    draw: (width) =>
      heat_map(
        {
          title: name,
          matrix,
          metric: kShare,
          range: [0, most],
          x_label: 'component',
          height: Math.min(width, 300),
          column_name: (c) => `from ${parts[c] ?? c}`,
        },
        width,
      ),
    table: () => ({
      columns: ['place', 'component', 'share'],
      rows: shares.flatMap((row, r) => row.map((v, c) => [places[r], parts[c], v])),
    }),
  });
}

export function unit_figures(names: string[]): HTMLElement[] {
  const all = probed(names);
  if (!all.length)
    return [nothing('These two were not trained with probes on this page, so nothing is known of their units.')];
  const out: HTMLElement[] = [];
  if (all.some((p) => p.probes.gradient_skip)) out.push(split_figure(all));
  const lens = lens_figure(all);
  if (lens) out.push(lens);
  const matrices = all.map(dependency_figure).filter((m): m is HTMLElement => !!m);
  if (matrices.length) out.push(h('h2', null, 'Layer dependency'), h('div', { class: 'maps' }, matrices));
  if (!lens && !matrices.length)
    out.push(
      nothing('Loss by depth and the dependency matrix are recorded with --probes full; these runs have the default set.'),
    );
  return out;
}
