// Predict, then reveal: the reader says which curves will train before any of them is drawn.
import { line_chart } from '../charts/line_chart';
import { clear, h } from '../dom';
import { figure } from '../figure';
import * as labs from '../labs';
import { fixed, listed } from '../numbers';
import { badge, key_of, nothing } from '../parts';
import { term } from '../terms';
import { loss_chart, loss_table } from '../views/loss_figure';

function answer(rows: labs.Row[], names: string[], guesses: Set<number>): HTMLElement {
  const right = rows.filter((r, i) => guesses.has(i) === (r.happened === 'trains')).length;
  const trained = rows
    .map((r, i) => ({ r, i }))
    .filter(({ r }) => r.happened === 'trains')
    .map(({ i }) => names[i]);
  return h(
    'div',
    { class: 'answer', role: 'status' },
    h(
      'p',
      null,
      h('b', null, right === rows.length ? 'All right. ' : `${right} of ${rows.length} right. `),
      trained.length ? `${listed(trained)} ${trained.length === 1 ? 'trains' : 'train'}.` : 'None of them trains.',
    ),
    h(
      'ul',
      { class: 'guesses' },
      rows.map((r, i) =>
        h(
          'li',
          null,
          key_of(r.look),
          ' ',
          names[i],
          ' ',
          badge(labs.outcome_of(r)),
          ' ',
          `ends at ${fixed(r.loss?.mean)} `,
          term('nats'),
          h(
            'span',
            { class: 'quiet' },
            guesses.has(i) === (r.happened === 'trains') ? ' (as you said)' : ' (you said otherwise)',
          ),
        ),
      ),
    ),
  );
}

/** `ask` is the question; `names` what the rows are called in it. Without a verdict on every row there is no answer to reveal. */
export function predict(title: string, ask: string, rows: labs.Row[], names: string[]): HTMLElement {
  if (!rows.every(labs.judged)) return nothing('These runs are not decided yet, so there is nothing to predict.');
  const guesses = new Set<number>();
  const place = h('div', null);
  const ask_again = (): void => {
    guesses.clear();
    clear(place);
    place.append(
      h('p', null, ask),
      h(
        'div',
        { class: 'guesses' },
        rows.map((_, i) =>
          h(
            'label',
            { class: 'guess' },
            h('input', {
              type: 'checkbox',
              onchange: (event: Event) => {
                if ((event.target as HTMLInputElement).checked) guesses.add(i);
                else guesses.delete(i);
              },
            }),
            key_of(rows[i].look),
            ' ',
            names[i],
          ),
        ),
      ),
      h('button', { type: 'button', class: 'reveal', onclick: reveal }, 'Draw the curves'),
    );
  };
  const reveal = (): void => {
    clear(place);
    const chart = loss_chart(rows, 340);
    chart.series.forEach((s, i) => (s.name = names[i]));
    place.append(
      answer(rows, names, guesses),
      figure({ title, draw: (width) => line_chart(chart, width), table: () => loss_table(rows) }),
      h('button', { type: 'button', onclick: ask_again }, 'Ask me again'),
    );
    (place.querySelector('.answer') as HTMLElement | null)?.scrollIntoView({ block: 'nearest' });
  };
  ask_again();
  return h('section', { class: 'predict' }, h('h3', null, 'Predict, then look'), place);
}
