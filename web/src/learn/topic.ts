// What every topic of the Learn tab is made of: words, a formula, the line of code that computes it, and something measured.
import type { ReportData } from '../data';
import { besides_placement } from '../differences';
import { h, type Child } from '../dom';
import { formula } from '../formula';
import * as labs from '../labs';
import { badge, claim_link } from '../parts';
import type { Claim } from '../results';
import { with_terms } from '../terms';

export interface Topic {
  id: string;
  title: string;
  draw: (place: HTMLElement, data: ReportData) => void;
}

/** Typed by us, not data: paragraphs with **strong** words, and [[words]] of the glossary. */
export function say(...paragraphs: string[]): HTMLElement[] {
  return paragraphs.map((text) =>
    h(
      'p',
      null,
      text.split('**').map((part, i) => (i % 2 ? h('b', null, part) : with_terms(part))),
    ),
  );
}

export function formulas(...lines: [text: string, meaning?: string][]): HTMLElement {
  return h(
    'div',
    { class: 'formula-block' },
    lines.map(([text, meaning]) => h('div', null, formula(text), meaning ? h('span', { class: 'quiet' }, meaning) : null)),
  );
}

/** A line of this program, as it stands in its source. */
export function code(line: { file: string; text: string; does: string }): HTMLElement {
  return h(
    'figure',
    { class: 'code-line' },
    h('figcaption', null, line.does, ' ', h('span', { class: 'quiet' }, line.file)),
    h('pre', { tabindex: '0' }, h('code', null, line.text)),
  );
}

export function claim_named(data: ReportData, id: string): Claim | undefined {
  const sets = [...(data.claims ?? [])].sort((a, b) => Number(a.shipped) - Number(b.shipped));
  for (const set of sets) {
    const found = set.claims?.find((c) => c.id === id);
    if (found) return found;
  }
  return undefined;
}

export function evidence(data: ReportData, ...ids: string[]): HTMLElement {
  const found = ids.map((id) => claim_named(data, id)).filter((c): c is Claim => !!c);
  if (!found.length)
    return h('p', { class: 'nothing' }, 'The measurements of the claims are not on this page: addnorm lab claims makes them.');
  return h(
    'section',
    { class: 'evidence' },
    h('h3', null, 'Measured'),
    h(
      'ul',
      null,
      found.map((c) =>
        h(
          'li',
          null,
          h(
            'div',
            null,
            h('a', { href: claim_link(c.id), class: 'claim-id' }, c.id),
            ' ',
            c.claim,
            ' ',
            badge(c.verdict),
          ),
          h('div', { class: 'quiet' }, c.measured ?? ''),
        ),
      ),
    ),
  );
}

export interface Compared {
  rows: labs.Row[]; // one of each arrangement; empty: no lab of the page has them all
  also: string[]; // in what they differ besides
}

/** Rows of these arrangements that differ in nothing else; where no lab has such rows, the first of each. */
export function rows_compared(names: string[], fits: (row: labs.Row) => boolean): Compared {
  const others: Compared[] = [];
  for (const { rows: all } of labs.all()) {
    const of_name = (name: string): labs.Row[] => all.filter((r) => r.arrangement === name && fits(r));
    const [firsts, ...rest] = names.map(of_name);
    if (!firsts.length || rest.some((own) => !own.length)) continue;
    for (const first of firsts) {
      const alike = rest.flatMap((own) => own.find((r) => !besides_placement(first, r).length) ?? []);
      if (alike.length === rest.length) return { rows: [first, ...alike], also: [] };
    }
    const rows = [firsts[0], ...rest.map((own) => own[0])];
    others.push({ rows, also: [...new Set(rows.flatMap((r) => besides_placement(rows[0], r)))] });
  }
  return others[0] ?? { rows: [], also: [] };
}

/** All rows of the part of a lab that has most arrangements: the one that a newcomer should look at. */
export function main_rows(): labs.Row[] {
  let best: labs.Row[] = [];
  for (const table of labs.all())
    for (const act of new Set(table.rows.map((r) => r.act ?? 0))) {
      const rows = table.rows.filter((r) => (r.act ?? 0) === act && r.instead_of === undefined);
      const one_each = rows.filter((r, i) => rows.findIndex((o) => o.arrangement === r.arrangement) === i);
      if (one_each.length > best.length) best = one_each;
    }
  return best.slice(0, 10);
}

export function not_here(what: string): Child {
  return h(
    'p',
    { class: 'nothing' },
    `This page has no run of ${what}. `,
    h('code', null, 'addnorm lab'),
    ' without options makes one with all of them.',
  );
}
