// The tables under the first screen: what was predicted against what happened, row by row and in counts.
import { h, type Child } from '../dom';
import * as labs from '../labs';
import { fixed, known, percent } from '../numbers';
import { data_table } from '../parts';
import { term } from '../terms';

/** Counts of predicted against happened, where there are enough rows for them to mean something. */
export function confusion(table: labs.Table): Child {
  const c = table.lab.confusion;
  if (!c?.counts?.length || (c.rows ?? 0) < 10) return null;
  const left_out = (c.rows ?? 0) - c.counts.flat().reduce((sum, n) => sum + n, 0);
  return h(
    'section',
    null,
    h('h2', null, 'How good were the predictions?'),
    data_table(
      'Rows: predicted. Columns: happened',
      ['', ...c.classes],
      c.counts.map((row, i) => [c.classes[i] ?? '', ...row]),
    ),
    known(c.trains_or_not_balanced_accuracy)
      ? h('p', null, `Trains or not: balanced accuracy ${percent(c.trains_or_not_balanced_accuracy)} over the ${c.rows} rows of all parts.`)
      : null,
    left_out > 0
      ? h('p', null, `Rows that did not train, with no more warm-up tried, are not in the table: ${left_out}.`)
      : null,
  );
}

export function summary(rows: labs.Row[]): HTMLElement {
  return data_table(
    'Predicted against happened',
    ['configuration', 'predicted', 'happened', 'seeds trained', ['loss, ', term('nats')], ['above ', term('floor')]],
    rows
      .slice(0, 400)
      .map((r) => [
        r.label,
        r.prediction?.forecast ?? r.no_prediction ?? '–',
        labs.outcome_of(r) ?? '–',
        known(r.trained) ? `${r.trained} of ${r.done ?? r.runs.length}` : '–',
        known(r.loss?.mean)
          ? `${fixed(r.loss?.mean, 3)}${known(r.loss?.deviation) && (r.loss?.count ?? 0) > 1 ? ` ± ${fixed(r.loss?.deviation, 3)}` : ''}`
          : '–',
        fixed(r.distance, 3),
      ]),
  );
}
