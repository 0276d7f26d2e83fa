// Small pieces that several views share.
import { h, styled, svg, type Child } from './dom';
import * as labs from './labs';
import { choose } from './dom';
import { kMarks, kSigns, tone_of, type Look } from './palette';
import * as state from './state';

/** "✓ trains": sign, word and colour say the same. */
export function badge(verdict: string | undefined, text?: string): HTMLElement {
  const tone = tone_of(verdict);
  return h(
    'span',
    { class: `badge ${tone}` },
    h('span', { 'aria-hidden': 'true' }, kSigns[tone]),
    ' ',
    text ?? verdict ?? 'not known',
  );
}

/** A text of the data with a capital and a full stop. */
export function sentence(text: string | undefined): string {
  const trimmed = (text ?? '').trim();
  return trimmed && trimmed.charAt(0).toUpperCase() + trimmed.slice(1) + (/[.!?]$/.test(trimmed) ? '' : '.');
}

/** The line and the mark that stand for something in figures. */
export function key_of(look: Look): SVGSVGElement {
  return svg(
    'svg',
    { class: 'key-line', width: 30, height: 12, viewBox: '0 0 30 12', 'aria-hidden': 'true' },
    styled(svg('path', { d: 'M0,6H30', 'stroke-width': 2.5, fill: 'none', 'stroke-dasharray': look.dash || 'none' }), {
      stroke: look.colour,
    }),
    styled(svg('path', { d: kMarks[look.mark], transform: 'translate(15,6)' }), { fill: look.colour }),
  );
}

export function legend(entries: { name: string; look: Look }[]): HTMLElement {
  return h(
    'ul',
    { class: 'legend' },
    entries.map((e) => h('li', null, key_of(e.look), ' ', e.name)),
  );
}

/** To a claim by itself, whatever the list of claims was narrowed to. */
export function claim_link(id: string): string {
  return state.link({ view: 'claims', claim: id, find: id, kind: '', verdict: '' });
}

/** Which lab, where there are several. */
export function lab_choice(): Child {
  const all = labs.all();
  if (all.length < 2) return null;
  return choose(
    'Lab',
    all.map((t, i) => ({
      value: String(i),
      text: all.some((o) => o !== t && o.lab.name === t.lab.name) ? `${i + 1}. ${t.lab.name}` : t.lab.name,
    })),
    state.get('lab', '0'),
    (value) => state.set({ lab: value, act: '', row: '', a: '', b: '', cell: '' }),
  );
}

export function nothing(...text: Child[]): HTMLElement {
  return h('p', { class: 'nothing' }, text);
}

/** A table that scrolls by itself where the page is narrow. */
export function data_table(caption: string, head: Child[], rows: Child[][]): HTMLElement {
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h(
      'table',
      { class: 'data' },
      h('caption', null, caption),
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          head.map((c) => h('th', { scope: 'col' }, c)),
        ),
      ),
      h(
        'tbody',
        null,
        rows.map((row) =>
          h(
            'tr',
            null,
            row.map((cell, i) => (i ? h('td', null, cell) : h('th', { scope: 'row' }, cell))),
          ),
        ),
      ),
    ),
  );
}
