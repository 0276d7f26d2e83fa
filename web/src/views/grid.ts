// Final loss over depth, learning rate and warm-up: dots are seeds, a line joins their means, and the largest rate that trains.
import { line_chart } from '../charts/line_chart';
import { scatter } from '../charts/scatter';
import { differing, named_with } from '../differences';
import { choose, h, type Child } from '../dom';
import { figure } from '../figure';
import * as labs from '../labs';
import { fixed, known, listed, short } from '../numbers';
import { look_of } from '../palette';
import { badge, data_table, lab_choice, legend } from '../parts';
import type { View } from '../shell';
import * as state from '../state';
import { with_terms } from '../terms';

type Axis = 'layers' | 'rate' | 'warmup';
const kAxes: { id: Axis; text: string; log: boolean }[] = [
  { id: 'layers', text: 'layers', log: true },
  { id: 'rate', text: 'learning rate', log: true },
  { id: 'warmup', text: 'warm-up steps', log: false },
];

function varies(rows: labs.Row[], axis: Axis): boolean {
  return new Set(rows.map((r) => r[axis]).filter(known)).size > 1;
}

function stable_rates(rows: labs.Row[]): HTMLElement | null {
  const groups = new Map<string, labs.Row[]>(),
    others = differing(rows);
  for (const r of rows) {
    const key = JSON.stringify([named_with(r, others), r.layers, r.warmup]);
    groups.set(key, [...(groups.get(key) ?? []), r]);
  }
  const lines = [...groups.values()]
    .filter((g) => varies(g, 'rate'))
    .map((g) => {
      const good = g.filter((r) => r.happened === 'trains').map((r) => r.rate);
      const [first] = g;
      return [
        named_with(first, others),
        first.layers,
        first.warmup || 'none',
        good.length ? short(Math.max(...good)) : 'none of these',
        g
          .map((r) => r.rate)
          .sort((a, b) => a - b)
          .map((v) => short(v))
          .join(', '),
      ];
    });
  return lines.length
    ? data_table(
        'Largest learning rate that trains',
        ['arrangement', 'layers', 'warm-up', 'largest rate that trains', 'rates tried'],
        lines,
      )
    : null;
}

/** Depth across, rate up: every cell says in word, sign and colour what happened. */
function crossing(rows: labs.Row[]): HTMLElement[] {
  if (!varies(rows, 'layers') && !varies(rows, 'rate') && !varies(rows, 'warmup')) return [];
  const depths = [...new Set(rows.map((r) => r.layers))].sort((a, b) => a - b);
  const columns = [...new Set(rows.map((r) => `${r.rate}|${r.warmup}`))].sort((a, b) => parseFloat(a) - parseFloat(b));
  const several = varies(rows, 'warmup');
  const others = differing(rows);
  return [...new Set(rows.map((r) => named_with(r, others)))].slice(0, 40).map((name) => {
    const own = rows.filter((r) => named_with(r, others) === name);
    const used = columns.filter((c) => own.some((r) => `${r.rate}|${r.warmup}` === c));
    if (used.length > 4)
      return data_table(
        name,
        ['layers', 'learning rate', 'warm-up', 'final loss'],
        [...own]
          .sort((a, b) => a.layers - b.layers || a.rate - b.rate || a.warmup - b.warmup)
          .map((r) => [
            r.layers,
            short(r.rate),
            r.warmup || 'none',
            badge(labs.outcome_of(r), `${labs.outcome_of(r) ?? 'not run'}, ${fixed(r.loss?.mean)}`),
          ]),
      );
    return data_table(
      name,
      [
        'layers',
        ...used.map((c) => {
          const [rate, warmup] = c.split('|').map(Number);
          return `lr ${short(rate)}${several ? (warmup ? `, warm-up ${warmup}` : ', no warm-up') : ''}`;
        }),
      ],
      depths
        .filter((d) => own.some((r) => r.layers === d))
        .map((d) => [
          d,
          ...used.map((c): Child => {
            const r = own.find((o) => o.layers === d && `${o.rate}|${o.warmup}` === c);
            return r ? badge(labs.outcome_of(r), fixed(r.loss?.mean)) : '';
          }),
        ]),
    );
  });
}

export function grid_view(): View {
  return {
    id: 'grid',
    title: 'Grid',
    empty: () => !labs.all().length,
    watches: ['lab', 'x'],
    draw(place) {
      const table = labs.current();
      if (!table) return;
      const rows = table.rows.filter((r) => r.instead_of === undefined); // not the copies that try one change
      const others = differing(rows);
      const possible = kAxes.filter((a) => varies(rows, a.id));
      const axis = possible.find((a) => a.id === state.get('x')) ?? possible[0] ?? kAxes[0];
      const rest = kAxes.filter((a) => a.id !== axis.id);
      place.append(
        h('h1', null, 'Where does it stop training?'),
        h(
          'p',
          { class: 'lead' },
          with_terms(
            'The loss, in [[nats]] per token, that each configuration ended with. Every dot is one seed; dots far apart at the same place are a setting on the edge.',
          ),
        ),
        h(
          'div',
          { class: 'controls' },
          lab_choice(),
          possible.length > 1
            ? choose(
                'Across',
                possible.map((a) => ({ value: a.id, text: a.text })),
                axis.id,
                (value) => state.set({ x: value }),
              )
            : null,
        ),
      );

      const groups = new Map<string, labs.Row[]>();
      for (const r of rows) {
        const key = [
          named_with(r, others),
          ...rest
            .filter((a) => varies(rows, a.id))
            .map(
              (a) =>
                `${a.id === 'warmup' ? (r.warmup ? `warm-up ${r.warmup}` : 'no warm-up') : a.id === 'rate' ? `lr ${short(r.rate)}` : `${r.layers} layers`}`,
            ),
        ].join(', ');
        groups.set(key, [...(groups.get(key) ?? []), r]);
      }
      const variants = new Map<string, number>();
      const lines = [...groups].map(([name, own]) => {
        const variant = variants.get(own[0].arrangement) ?? 0;
        variants.set(own[0].arrangement, variant + 1);
        return {
          name,
          look: look_of(own[0].arrangement, variant),
          dots: own.flatMap((r) =>
            labs
              .runs_of(r)
              .filter((run) => known(run.loss) && known(r[axis.id]))
              .map((run) => ({
                x: r[axis.id],
                y: run.loss as number,
                text: `${r.label}, seed ${run.seed ?? '?'}: ${run.outcome ?? ''}`,
              })),
          ),
          means: own
            .filter((r) => known(r.loss?.mean) && known(r[axis.id]))
            .map((r) => ({ x: r[axis.id], y: r.loss?.mean as number }))
            .sort((a, b) => a.x - b.x),
        };
      });
      const base = rows.find((r) => r.baselines)?.baselines;
      const references = [
        ['unigram', base?.unigram],
        ['bigram', base?.bigram],
        ['floor', base?.floor],
      ]
        .filter((r): r is [string, number] => known(r[1] as number))
        .map(([text, value]) => ({ text, value }));
      place.append(
        figure({
          title: `Final loss against ${axis.text}`,
          level: 2,
          note: [
            legend(lines.slice(0, 24)),
            references.length
              ? with_terms(`Dotted, to compare with: ${listed(references.map((r) => `[[${r.text}]]`))}.`)
              : null,
          ],
          draw: (width) =>
            scatter(
              {
                groups: lines,
                x_label: axis.text,
                y_label: 'final loss, nats per token',
                log_x: axis.log,
                references,
                describe: `Final loss of every run against ${axis.text}`,
              },
              width,
            ),
          table: () => ({
            columns: ['configuration', axis.id, 'loss', 'run'],
            rows: lines.flatMap((l) => l.dots.map((d) => [l.name, d.x, d.y, d.text])),
          }),
        }),
      );
      const rates = stable_rates(rows);
      if (rates) place.append(h('section', null, h('h2', null, 'Largest stable learning rate'), rates));
      const cells = crossing(rows);
      if (cells.length) place.append(h('section', null, h('h2', null, 'Cell by cell'), h('div', { class: 'tables' }, cells)));
      const warm = table.rows.find((r) => r.warmup > 0 && labs.runs_of(r).some((run) => run.rate_curve?.length));
      if (warm) {
        const none = table.rows.find((r) => !(r.warmup > 0) && labs.runs_of(r).some((run) => run.rate_curve?.length));
        const series = [warm, none].flatMap((r) => {
          const run = r && labs.runs_of(r).find((x) => x.rate_curve?.length);
          return r && run?.curve
            ? [
                {
                  name: r.warmup ? `warm-up ${r.warmup}` : 'no warm-up',
                  look: look_of(r.warmup ? 'post-ln' : 'pre-ln'),
                  x: run.curve.step,
                  y: run.rate_curve ?? [],
                },
              ]
            : [];
        });
        place.append(
          figure({
            title: 'Learning rate as it was',
            level: 2,
            draw: (width) =>
              line_chart(
                { series, x_label: 'step', y_label: 'learning rate', height: 220, describe: 'Learning rate against step' },
                width,
              ),
            table: () => ({
              columns: ['schedule', 'step', 'rate'],
              rows: series.flatMap((s) => s.x.map((x, i) => [s.name, x, s.y[i]])),
            }),
          }),
        );
      }
    },
  };
}
