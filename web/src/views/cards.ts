// A verdict card: formula, what was predicted, what happened, and the cause.
import { weights_in_words } from '../differences';
import { h, type Child } from '../dom';
import { formula_lines } from '../formula';
import * as labs from '../labs';
import { fixed, known } from '../numbers';
import { tone_of } from '../palette';
import { badge, key_of, sentence } from '../parts';
import * as state from '../state';
import { term, terms_in } from '../terms';

/** What speaks of the cause stands in the line below, among what was tried. */
function by_is_tried(row: labs.Row): boolean {
  const by = row.cause?.by_rows ?? [];
  return by.length > 0 && by.every((place) => row.tried?.some((t) => t.row === place));
}

function cause_line(row: labs.Row): Child {
  const cause = row.cause;
  if (!cause)
    return row.happened === 'trains' && row.prediction?.reason
      ? h('p', { class: 'why' }, terms_in(`Preflight: ${row.prediction.reason}.`))
      : null;
  const label = cause.confirmed ? 'Cause, confirmed: ' : cause.kind === 'unknown' || cause.kind === 'slow' ? '' : 'Suspected: ';
  return h(
    'p',
    { class: 'why' },
    h('span', { class: `cause ${cause.confirmed ? 'confirmed' : 'suspected'}` }, label),
    terms_in(label ? cause.text.trim().replace(/\.$/, '') + '.' : sentence(cause.text)),
    cause.by && !by_is_tried(row) ? h('span', { class: 'quiet' }, ` ${sentence(cause.by)}`) : null,
  );
}

/** "Cured by pre-ln (3 of 3); not by 200 warm-up steps (0 of 1)." */
function tried_line(row: labs.Row): Child {
  const said = (cures: boolean): string =>
    (row.tried ?? [])
      .filter((t) => t.cures === cures)
      .map((t) => `${t.change} (${t.trained} of ${t.done})`)
      .join(', ');
  const good = said(true),
    bad = said(false);
  if (!good && !bad) return null;
  return h(
    'p',
    { class: 'why tried' },
    good ? [h('b', null, 'Cured by '), good] : null,
    good && bad ? '; ' : null,
    bad ? [h('b', null, good ? 'not by ' : 'Not cured by '), bad] : null,
    '.',
  );
}

function start_line(row: labs.Row): Child {
  if (!row.weights) return null;
  const embeddings = row.embeddings ? `, embeddings of ${row.embeddings}` : '';
  return h('p', { class: 'start quiet' }, `starts from ${weights_in_words(row)}${embeddings}`);
}

export function verdict_card(row: labs.Row, among: labs.Row[]): HTMLElement {
  const text = labs.formula_of(row);
  const seeds = known(row.trained) ? `${row.trained}/${row.done ?? row.runs.length}` : '';
  return h(
    'article',
    { class: `card ${tone_of(labs.outcome_of(row))}` },
    h(
      'h3',
      null,
      key_of(row.look),
      ' ',
      h('a', { href: state.link({ view: 'layers', a: row.arrangement, row: String(row.index) }) }, labs.name_among(row, among)),
    ),
    text
      ? h(
          'div',
          { class: 'card-formula' },
          formula_lines(text).map((f) => h('div', null, f)),
        )
      : null,
    start_line(row),
    h(
      'dl',
      { class: 'facts' },
      row.prediction || labs.judged(row)
        ? h('div', null, h('dt', null, 'predicted'), h('dd', null, row.prediction ? badge(row.prediction.forecast) : '–'))
        : null,
      row.happened
        ? h(
            'div',
            null,
            h('dt', null, 'happened'),
            h('dd', null, badge(labs.outcome_of(row)), ' ', h('small', { title: 'seeds that trained' }, seeds)),
          )
        : null,
      h(
        'div',
        null,
        h('dt', null, 'loss'),
        h(
          'dd',
          null,
          fixed(row.loss?.mean),
          known(row.distance) ? h('small', null, ` ${fixed(row.distance)} above `, term('floor')) : null,
        ),
      ),
    ),
    row.instead_of !== undefined
      ? h('p', { class: 'why quiet' }, `Run to try one change of: ${row.of.rows[row.instead_of]?.label ?? 'another row'}.`)
      : null,
    cause_line(row),
    tried_line(row),
    broken(row),
  );
}

function broken(row: labs.Row): Child {
  const texts = [
    ...new Set(
      labs
        .runs_of(row)
        .map((r) => r.problem || r.broke_off)
        .filter((t): t is string => !!t),
    ),
  ];
  return texts.length ? h('p', { class: 'why quiet' }, texts.slice(0, 2).map(sentence).join(' ')) : null;
}
