// Depth x step, one map per arrangement, one colour scale for all: where in the stack, and when, a model goes wrong.
import { colour_bar, heat_map } from '../charts/heat_map';
import { line_chart } from '../charts/line_chart';
import { choose, h, toggles, type Child } from '../dom';
import type { Probes } from '../data';
import type { Table as Csv } from '../export';
import { figure } from '../figure';
import * as labs from '../labs';
import { common_range, kMetrics, matrix_of, type Matrix, type Metric } from '../metrics';
import { known } from '../numbers';
import { badge, key_of, lab_choice, nothing } from '../parts';
import type { View } from '../shell';
import * as state from '../state';
import { meaning_of, with_terms } from '../terms';

const kMostMaps = 12;

interface Mapped {
  row: labs.Row;
  matrix: Matrix;
  probes: Probes;
}

/** "60 of 200 records", where the page has not all of them. */
function left_out(p: Probes): string {
  const parts = [
    known(p.of_records) ? `${p.step.length} of ${p.of_records} records` : '',
    known(p.of_units) ? `${p.units.length} of ${p.of_units} units` : '',
  ].filter(Boolean);
  return parts.length ? ` ${parts.join(', ')}.` : '';
}

function probed(table: labs.Table | undefined): labs.Row[] {
  return (table?.rows ?? []).filter((row) => labs.runs_of(row).some((run) => labs.probes_of(run)));
}

function run_with_probes(row: labs.Row, nth: number): number {
  const runs = labs.runs_of(row);
  return labs.probes_of(runs[nth]) ? nth : runs.findIndex((run) => labs.probes_of(run));
}

function mapped(rows: labs.Row[], metric: Metric, nth: number): Mapped[] {
  return rows.flatMap((row) => {
    const probes = labs.probes_of(labs.runs_of(row)[run_with_probes(row, nth)]);
    const matrix = probes && matrix_of(probes, metric);
    return probes && matrix ? [{ row, matrix, probes }] : [];
  });
}

function table_of(maps: Mapped[], metric: Metric): Csv {
  const rows: Csv['rows'] = [];
  for (const { row, matrix } of maps)
    for (let c = 0; c < matrix.columns; ++c)
      for (let r = 0; r < matrix.rows; ++r)
        rows.push([
          row.label,
          matrix.step[c],
          matrix.names[r],
          Number.isFinite(matrix.at(c, r)) ? Number(matrix.at(c, r).toPrecision(4)) : null,
        ]);
  return { columns: ['configuration', 'step', 'place', metric.id], rows };
}

/** The chosen unit over all steps, in every arrangement that has it. */
function history_of(
  maps: Mapped[],
  rows: labs.Row[],
  metric: Metric,
  chosen: { row: number; place: number; step: number },
): HTMLElement {
  const main = maps.find((m) => m.row.index === chosen.row) ?? maps[0];
  const name = main.matrix.names[Math.min(chosen.place, main.matrix.rows - 1)];
  const series = maps
    .map(({ row, matrix }) => {
      const place = row === main.row ? chosen.place : matrix.names.indexOf(name);
      const y =
        place < 0 || place >= matrix.rows
          ? []
          : matrix.step.map((_, c) => (Number.isFinite(matrix.at(c, place)) ? matrix.at(c, place) : null));
      return { name: labs.name_among(row, rows), look: row.look, x: matrix.step, y, faint: row !== main.row };
    })
    .filter((s) => s.y.some((v) => v !== null));
  return figure({
    title: `History of ${name.startsWith('after') ? 'the stream ' : ''}${name}: ${metric.title.toLowerCase()}`,
    level: 2,
    class: 'history',
    note: [
      `The cell that was clicked is of ${labs.name_among(main.row, rows)} at step ${chosen.step}; the other lines are the same unit of the other arrangements. `,
      h('button', { type: 'button', onclick: () => state.set({ cell: '' }) }, 'Close'),
    ],
    draw: (width) =>
      line_chart(
        {
          series,
          x_label: 'step',
          y_label: metric.title,
          log_y: metric.log,
          marker: { x: chosen.step, text: `step ${chosen.step}` },
          describe: `${metric.title} of ${name} against step`,
        },
        width,
      ),
    table: () => ({
      columns: ['configuration', 'step', metric.id],
      rows: series.flatMap((s) => s.x.map((x, i) => [s.name, x, s.y[i]])),
    }),
  });
}

export function maps_view(): View {
  return {
    id: 'maps',
    title: 'Heat maps',
    empty: () => !labs.all().some((t) => probed(t).length),
    watches: ['lab', 'stack', 'metric', 'seed', 'steps', 'cell', 'act', 'maps'],
    draw(place) {
      const table = labs.current();
      const rows = probed(table);
      place.append(
        h('h1', null, 'Depth and step in one picture'),
        h(
          'p',
          { class: 'lead' },
          with_terms(
            'Each map is one training run: left to right the steps, each column as wide as those it stands for; bottom to top the stack, from its input to its last [[unit]]. All maps share one colour scale.',
          ),
        ),
      );
      const metrics = kMetrics.filter((m) =>
        rows.some((row) =>
          labs.runs_of(row).some((run) => {
            const p = labs.probes_of(run);
            return !!p && !!matrix_of(p, m);
          }),
        ),
      );
      if (!table || !metrics.length) {
        place.append(
          h('div', { class: 'controls' }, lab_choice()),
          nothing('No probes were recorded for this lab. Run it with --probes on.'),
        );
        return;
      }
      const metric = metrics.find((m) => m.id === state.get('metric')) ?? metrics[0];
      const acts = [...new Set(rows.map((r) => r.act ?? 0))];
      const act = acts.length > 1 ? state.number('act', acts[0]) : -1;
      const of_act = act < 0 ? rows : rows.filter((r) => (r.act ?? 0) === act);
      const nth = state.number('seed', 0);
      const axis = state.get('steps') === 'linear' ? 'linear' : 'log';
      const seeds = Math.max(1, ...of_act.map((r) => labs.runs_of(r).filter((run) => labs.probes_of(run)).length));
      const stacks = [
        ...new Set(of_act.flatMap((r) => labs.runs_of(r).flatMap((run) => (run.probes ?? []).map((p) => p.stack)))),
      ];
      const controls: Child[] = [
        lab_choice(),
        stacks.length > 1
          ? choose(
              'Stack',
              stacks.map((s) => ({ value: s, text: s })),
              state.get('stack', stacks[stacks.length - 1]),
              (value) => state.set({ stack: value, cell: '' }),
            )
          : null,
        acts.length > 1
          ? choose(
              'Part',
              [
                ...acts.map((a) => ({ value: String(a), text: table.lab.acts?.[a]?.name || `Part ${a + 1}` })),
                { value: '-1', text: 'all' },
              ],
              String(act),
              (value) => state.set({ act: value, cell: '' }),
            )
          : null,
        seeds > 1
          ? choose(
              'Seed',
              Array.from({ length: seeds }, (_, i) => ({
                value: String(i),
                text: `the ${['first', 'second', 'third', 'fourth', 'fifth'][i] ?? `${i + 1}th`}`,
              })),
              String(nth),
              (value) => state.set({ seed: value, cell: '' }),
            )
          : null,
        choose(
          'Steps',
          [
            { value: 'log', text: 'on a log scale' },
            { value: 'linear', text: 'evenly spaced' },
          ],
          axis,
          (value) => state.set({ steps: value === 'log' ? '' : value }),
        ),
      ];
      place.append(
        toggles(
          'What is shown',
          metrics.map((m) => ({ value: m.id, text: m.title })),
          metric.id,
          (value) => state.set({ metric: value, cell: '' }),
        ),
        h('div', { class: 'controls' }, controls),
        h('p', { class: 'read' }, metric.word ? `${meaning_of(metric.word)} ` : null, with_terms(metric.read)),
      );

      const shown_rows = state.get('maps') === 'all' ? of_act : of_act.slice(0, kMostMaps);
      const maps = mapped(shown_rows, metric, nth);
      const range = common_range(
        maps.map((m) => m.matrix),
        metric,
      );
      const cell = state.get('cell').split('.').map(Number);
      const chosen =
        cell.length === 3 && cell.every(Number.isFinite) ? { row: cell[0], place: cell[1], step: cell[2] } : undefined;
      place.append(
        figure({
          title: `Colour scale: ${metric.title.toLowerCase()}`,
          class: 'bar',
          draw: (width) => colour_bar(metric, range, width),
          table: () => table_of(maps, metric),
        }),
      );
      if (chosen && maps.length) {
        const history = history_of(maps, of_act, metric, chosen);
        place.append(history);
        setTimeout(() => history.scrollIntoView({ block: 'nearest' }), 60);
      }
      place.append(
        h(
          'div',
          { class: 'maps' },
          maps.map(({ row, matrix, probes }) => {
            const name = labs.name_among(row, of_act);
            const column = chosen?.row === row.index ? matrix.step.indexOf(chosen.step) : -1;
            return figure({
              title: name,
              class: 'map',
              note: [key_of(row.look), ' ', row.happened ? badge(labs.outcome_of(row)) : null, left_out(probes)],
              draw: (width) =>
                heat_map(
                  {
                    title: name,
                    matrix,
                    metric,
                    range,
                    axis,
                    chosen: column >= 0 && chosen ? { column, row: chosen.place } : undefined,
                    choose: (c, r) => state.set({ cell: `${row.index}.${r}.${matrix.step[c]}` }),
                  },
                  width,
                ),
              table: () => table_of([{ row, matrix, probes }], metric),
            });
          }),
        ),
      );
      if (of_act.length > shown_rows.length)
        place.append(
          h(
            'p',
            null,
            h('button', { type: 'button', onclick: () => state.set({ maps: 'all' }) }, `Show all ${of_act.length} maps`),
          ),
        );
    },
  };
}
