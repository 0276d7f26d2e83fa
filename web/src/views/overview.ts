// The first screen: which arrangements train here, and why the others do not.
import { weights_in_words } from '../differences';
import { h, toggles, type Child } from '../dom';
import * as labs from '../labs';
import { count_of, known, listed } from '../numbers';
import { lab_choice, nothing } from '../parts';
import { setting_of } from '../setting';
import type { View } from '../shell';
import * as state from '../state';
import { terms_in, with_terms } from '../terms';
import { verdict_card } from './cards';
import { gradient_figure, loss_figure, reference_words, spiky, most_informative } from './loss_figure';
import { confusion, summary } from './verdict_tables';

const kMostCards = 24;

export function trained(row: labs.Row): boolean {
  return row.happened === 'trains';
}

/** Rows with a verdict, each configuration once, without the copies that were run to try one change. */
function asked_for(rows: labs.Row[]): labs.Row[] {
  return rows.filter((r) => labs.judged(r) && r.instead_of === undefined && r.same_as === undefined);
}

/** Rows of a lab that have none: not run yet, or for too few steps. */
function open_ones(rows: labs.Row[]): labs.Row[] {
  return rows.filter(
    (r) => r.happened && known(r.trained) && !labs.judged(r) && r.instead_of === undefined && r.same_as === undefined,
  );
}

function slow(row: labs.Row): boolean {
  return labs.outcome_of(row) === 'slow';
}

function names(rows: labs.Row[], among: labs.Row[]): string {
  return listed([...new Set(rows.map((r) => labs.name_among(r, among)))]);
}

/** "from xavier weights" where all of them start so, but for gains that a formula contains; else "here". */
function place_of(rows: labs.Row[]): string {
  const same = rows.every((r) => r.weights && r.weights === rows[0].weights);
  const [shortest] = rows.map(weights_in_words).sort((a, b) => a.length - b.length);
  return same ? `from ${shortest}` : 'here';
}

/** "3 of 6 arrangements train from xavier weights." */
function count_line(rows: labs.Row[]): string {
  const judged = asked_for(rows);
  const left = open_ones(rows);
  if (!judged.length && left.length)
    return `${count_of(left.length, 'configuration')}: ${left.every((r) => r.happened !== 'unknown') ? 'too short to tell' : 'not decided yet'}`;
  if (!judged.length) return rows.length === 1 ? `Training: ${rows[0].label}` : `${count_of(rows.length, 'training run')}`;
  const good = judged.filter(trained);
  const what = new Set(judged.map((r) => r.arrangement)).size === judged.length ? 'arrangement' : 'configuration';
  const here = place_of(judged);
  if (good.length === judged.length)
    return judged.length === 1 ? `${judged[0].arrangement} trains ${here}.` : `All ${judged.length} ${what}s train ${here}.`;
  if (!good.length)
    return judged.length === 1
      ? `${judged[0].arrangement} ${slow(judged[0]) ? 'is slow' : 'does not train'} ${here}.`
      : `None of ${judged.length} ${what}s trains ${here}.`;
  return `${good.length} of ${judged.length} ${what}s train${good.length === 1 ? 's' : ''} ${here}.`;
}

function lead(rows: labs.Row[], first: string): Child[] {
  const judged = asked_for(rows);
  const good = judged.filter(trained),
    late = judged.filter(slow),
    bad = judged.filter((r) => !trained(r) && !slow(r));
  const out: Child[] = first ? [`${first} `] : [];
  const fits = (some: labs.Row[]): boolean => some.length > 0 && names(some, judged).length < 110;
  if (fits(good)) out.push(h('b', null, names(good, judged)), good.length === 1 ? ' trains. ' : ' train. ');
  if (fits(bad))
    out.push(h('b', null, names(bad, judged)), ` ${bad.length === 1 ? 'does' : 'do'} not${fits(good) ? '' : ' train'}. `);
  if (fits(late))
    out.push(h('b', null, names(late, judged)), ` ${late.length === 1 ? 'is' : 'are'} slow: more steps are needed. `);
  const left = judged.length ? open_ones(rows).length : 0;
  if (left) out.push(`${count_of(left, 'configuration')} ${left === 1 ? 'is' : 'are'} not decided yet. `);
  const foreseen = judged.filter((r) => r.agreed !== null && r.agreed !== undefined);
  if (foreseen.length)
    out.push(`Preflight said so in advance for ${foreseen.filter((r) => r.agreed).length} of ${foreseen.length}. `);
  return out;
}

/** What the lab shows, in the sentences that the tool made from its numbers. */
function findings(table: labs.Table): Child {
  const lines = (table.lab.findings ?? []).filter((line) => line !== table.lab.headline); // which is the heading
  if (!lines.length) return null;
  const both = ['post-ln', 'norm-skip'].every((name) => table.rows.some((r) => r.arrangement === name));
  return h(
    'section',
    { class: 'finding' },
    h('h2', null, 'What this shows'),
    h(
      'ul',
      null,
      lines.map((line) => h('li', null, terms_in(line))),
    ),
    both
      ? h('a', { href: state.link({ view: 'layers', a: 'norm-skip', b: 'post-ln' }) }, 'See norm-skip and post-ln side by side')
      : null,
  );
}

/** What is trained here, and where to begin for those who have never seen any of it. */
function setting(rows: labs.Row[]): Child {
  const text = setting_of(rows.filter((r) => r.instead_of === undefined));
  return h(
    'p',
    { class: 'setting' },
    text ? h('span', { class: 'trained' }, h('b', null, 'What is trained: '), text, '. ') : null,
    h('a', { class: 'start-here', href: state.link({ view: 'learn', topic: '' }) }, 'New here? Start with Learn'),
  );
}

function act_choice(table: labs.Table, act: number): Child {
  const acts = table.lab.acts ?? [];
  const used = [...new Set(table.rows.map((r) => r.act ?? 0))].sort((a, b) => a - b);
  if (used.length < 2) return null;
  return toggles(
    'Part of the lab',
    [...used.map((a) => ({ value: String(a), text: acts[a]?.name || `Part ${a + 1}` })), { value: '-1', text: 'all' }],
    String(act),
    (value) => state.set({ act: value }),
  );
}

function unfinished(table: labs.Table): Child {
  const { finished, failed, runs } = table.lab;
  const done = runs.filter((r) => r.state === 'done').length;
  const parts = [
    finished === false ? `This lab was stopped: ${done} of ${runs.length} runs are done; the same command goes on.` : '',
    failed ? `${count_of(failed, 'run')} failed.` : '',
  ].filter(Boolean);
  return parts.length ? h('p', { class: 'nothing' }, parts.join(' ')) : null;
}

function find_rows(): HTMLElement {
  const find = h('input', {
    type: 'search',
    placeholder: 'find: post-ln 12 trains',
    'aria-label': 'Find configurations by words',
    value: state.get('rows'),
    onchange: () => state.set({ rows: find.value }),
  }) as HTMLInputElement;
  return find;
}

/** "; dotted, to compare with: unigram, bigram and floor", as far as they are known of the data. */
function dotted(rows: labs.Row[]): string {
  const words = reference_words(rows).map((word) => `[[${word}]]`);
  return words.length ? `; dotted, to compare with: ${listed(words)}` : '';
}

export function overview(): View {
  return {
    id: 'overview',
    title: 'Overview',
    empty: () => !labs.all().length,
    watches: ['lab', 'act', 'cards', 'rows'],
    draw(place) {
      const table = labs.current();
      if (!table) return;
      const first = Math.min(...table.rows.map((r) => r.act ?? 0));
      const act = state.number('act', first);
      const of_act = act < 0 ? labs.looking_different(table.rows) : table.rows.filter((r) => (r.act ?? 0) === act);
      const words = state.get('rows').toLowerCase().split(/\s+/).filter(Boolean);
      const rows = of_act.filter((r) =>
        words.every((w) =>
          `${r.label} ${r.arrangement} ${r.happened ?? ''} ${labs.outcome_of(r) ?? ''}`.toLowerCase().includes(w),
        ),
      );
      const note = table.lab.acts?.[act]?.note;
      const decided = table.lab.headline,
        counted = count_line(rows);
      place.append(
        h(
          'div',
          { class: 'hero' },
          h('h1', { class: decided ? 'decided' : undefined }, decided || counted),
          h(
            'p',
            { class: 'lead' },
            lead(rows, decided ? counted : ''),
            note
              ? h('span', { class: 'quiet' }, note.charAt(0).toUpperCase(), note.slice(1), /[.!?]$/.test(note) ? '' : '.')
              : null,
          ),
          setting(rows),
          unfinished(table),
          h(
            'div',
            { class: 'controls' },
            lab_choice(),
            act_choice(table, act),
            of_act.length > kMostCards / 2 ? find_rows() : null,
          ),
        ),
      );
      if (!rows.length) {
        place.append(nothing('No configuration fits these words.'));
        return;
      }
      const all = state.get('cards') === 'all',
        drawn = most_informative(rows);
      const shown = all ? rows : rows.slice(0, kMostCards);
      place.append(
        h(
          'div',
          { class: 'first' },
          h(
            'div',
            { class: 'left' },
            loss_figure(
              'Loss while training',
              drawn,
              [
                drawn.length < rows.length
                  ? `Of ${rows.length} configurations ${drawn.length} are drawn: the best and the worst of each arrangement first. `
                  : '',
                with_terms(
                  `Lines are means over seeds; the shade goes from the least to the greatest of them. Lines that lie on each other take turns. The loss is in [[nats]] per token${dotted(drawn)}.`,
                ),
                drawn.some(spiky)
                  ? ' Of a single run the line is a mean over some steps each, and the shade goes from the least to the greatest loss of one step.'
                  : '',
              ],
              400,
            ).element,
            gradient_figure(drawn),
          ),
          h(
            'section',
            { class: 'cards', 'aria-label': 'Verdicts' },
            shown.map((r) => verdict_card(r, rows)),
          ),
        ),
      );
      if (rows.length > shown.length)
        place.append(
          h(
            'p',
            null,
            h('button', { type: 'button', onclick: () => state.set({ cards: 'all' }) }, `Show all ${rows.length} cards`),
          ),
        );
      const finding = findings(table);
      if (finding) place.insertBefore(finding as HTMLElement, place.children[1] ?? null);
      const lines = table.lab.comparisons ?? [];
      if (lines.length)
        place.append(
          h(
            'section',
            null,
            h('h2', null, 'Of the rows with 3 seeds or more, the best loss against the others'),
            h(
              'ul',
              null,
              lines.slice(0, 40).map((l) => h('li', null, l)),
            ),
          ),
        );
      if (rows.some(labs.judged)) place.append(summary(rows));
      const counts = confusion(table);
      if (counts) place.append(counts as HTMLElement);
    },
  };
}
