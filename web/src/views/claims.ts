// What texts and papers say, and what was measured.
import { spread_bars } from '../charts/spread_bars';
import type { ReportData } from '../data';
import { choose, clear, h, toggles } from '../dom';
import { figure } from '../figure';
import { count_of, known } from '../numbers';
import { tone_of } from '../palette';
import { badge, claim_link } from '../parts';
import type { Claim, ClaimSet, ClaimValue } from '../results';
import type { View } from '../shell';
import * as state from '../state';

const kKinds = ['true only if', 'true with', 'mixed', 'false with', 'false', 'not seen with', 'not seen'];

const kHeldEqual = 'before the initialisation was held equal'; // results from before there was a `since`

/** Its kind: what follows the word says how, and is another text in every claim. */
function verdict_of(claim: Claim): string {
  return kKinds.find((kind) => claim.verdict.startsWith(kind)) ?? claim.verdict;
}

const kRules: Record<string, string> = { xavier: 'Xavier’s', gpt2: 'GPT-2’s' };

function weights_of(init: string): string {
  return `${kRules[init] ?? init} weights`;
}

function numbers(title: string, all: ClaimValue[] | undefined): HTMLElement | null {
  const values = (all ?? []).filter((v) => known(v.mean));
  if (!values.length) return null;
  return figure({
    title,
    level: 4,
    draw: (width) => spread_bars(values, width),
    table: () => ({
      columns: ['what', 'mean', 'deviation', 'seeds'],
      rows: values.map((v) => [v.name, v.mean, v.spread, v.seeds]),
    }),
  });
}

/** What was measured: once, or under each rule of initialisation. */
function measured(claim: Claim): (HTMLElement | null)[] {
  if (!claim.inits?.length)
    return [h('p', null, h('b', null, 'Measured: '), claim.measured ?? '–'), numbers(`${claim.id} in numbers`, claim.values)];
  return claim.inits.flatMap((rule) => [
    h('p', null, h('b', null, `Measured with ${weights_of(rule.init)}: `), rule.measured, ' ', badge(rule.verdict)),
    numbers(`${claim.id} in numbers, ${weights_of(rule.init)}`, rule.values),
  ]);
}

function details(claim: Claim): HTMLElement {
  return h(
    'div',
    { class: 'claim-body' },
    measured(claim),
    (claim.see ?? []).map((other) =>
      h(
        'p',
        null,
        h('b', null, 'See ', h('a', { href: claim_link(other.id) }, other.id), ': '),
        other.why,
      ),
    ),
    claim.expected ? h('p', null, h('b', null, 'Looked for: '), claim.expected) : null,
    claim.start ? h('p', null, h('b', null, 'Start: '), claim.start) : null,
    claim.changed ? h('p', null, h('b', null, 'Changed: '), claim.changed) : null,
    claim.earlier
      ? h(
          'p',
          null,
          h('b', null, 'Verdict: '),
          `was "${claim.earlier.verdict}" ${claim.earlier.since ?? kHeldEqual}: ${claim.earlier.why}`,
        )
      : null,
    h(
      'p',
      { class: 'quiet' },
      claim.command ? h('code', null, claim.command) : null,
      claim.seeds ? ` · ${count_of(claim.seeds, 'seed')}` : '',
      claim.date ? ` · ${claim.date}` : '',
    ),
  );
}

export function claim_item(claim: Claim, open = false): HTMLElement {
  const body = h('div', null);
  const item = h(
    'details',
    {
      class: `claim ${tone_of(claim.verdict)}`,
      id: `claim-${claim.id}`,
      ontoggle: () => {
        if (item.open && !body.firstChild) body.appendChild(details(claim));
      },
    },
    h(
      'summary',
      null,
      h('span', { class: 'claim-id' }, claim.id),
      h('span', { class: 'claim-text' }, claim.claim),
      badge(claim.verdict),
    ),
    h('p', { class: 'quiet source' }, claim.source ?? ''),
    body,
  ) as HTMLDetailsElement;
  if (open) {
    item.open = true;
    body.appendChild(details(claim));
  }
  return item;
}

export function claims_view(data: ReportData): View {
  const by_number = new Intl.Collator('en', { numeric: true }); // C2 before C10
  const sets = (data.claims ?? [])
    .filter((s) => s.claims?.length)
    .map((s) => ({ ...s, claims: [...s.claims].sort((a, b) => by_number.compare(a.id ?? '', b.id ?? '')) }));
  return {
    id: 'claims',
    title: 'Claims',
    empty: () => !sets.length,
    watches: ['set', 'verdict', 'kind', 'claim', 'find'],
    draw(place) {
      const own = sets.findIndex((s) => !s.shipped);
      const wanted = sets[state.number('set', Math.max(0, own))] ?? sets[0];
      const has = (set: ClaimSet): boolean => set.claims.some((c) => c.id === state.get('claim'));
      const chosen = has(wanted) ? wanted : (sets.find(has) ?? wanted); // a link may lead into another set
      const verdicts = [...new Set(chosen.claims.map(verdict_of))];
      const counts = verdicts.map(
        (v) => `${chosen.claims.filter((c) => verdict_of(c) === v).length} ${v}${/ (if|with)$/.test(v) ? ' …' : ''}`,
      );
      place.append(
        h('h1', null, 'What texts and papers say, measured'),
        h(
          'p',
          { class: 'lead' },
          `${count_of(chosen.claims.length, 'claim')}: ${counts.join(', ')}. `,
          h(
            'span',
            { class: 'quiet' },
            chosen.shipped ? 'Measured by the makers of this program and built into it.' : 'Measured on this machine.',
            ' S-claims are statements of four teaching texts, C-claims are of papers, looked at on a small scale.',
          ),
        ),
      );
      const find = h('input', {
        type: 'search',
        placeholder: 'find words',
        'aria-label': 'Find claims by words',
        value: state.get('find'),
        oninput: () => {
          state.set({ find: find.value }, true);
          fill();
        },
      }) as HTMLInputElement;
      place.append(
        h(
          'div',
          { class: 'controls' },
          sets.length > 1
            ? choose(
                'Claims',
                sets.map((s, i) => ({ value: String(i), text: s.name })),
                String(sets.indexOf(chosen)),
                (value) => state.set({ set: value, claim: '' }),
              )
            : null,
          toggles(
            'Kind',
            [
              { value: '', text: 'all' },
              { value: 'S', text: 'texts' },
              { value: 'C', text: 'papers' },
            ],
            state.get('kind'),
            (value) => state.set({ kind: value }),
          ),
          choose(
            'Verdict',
            [{ value: '', text: 'any' }, ...verdicts.map((v) => ({ value: v, text: v }))],
            state.get('verdict'),
            (value) => state.set({ verdict: value }),
          ),
          find,
        ),
      );
      const list = h('div', { class: 'claims' });
      const fill = (): void => {
        clear(list);
        const words = state.get('find').toLowerCase().split(/\s+/).filter(Boolean);
        const fits = (c: Claim): boolean =>
          (!state.get('kind') || c.id.startsWith(state.get('kind'))) &&
          (!state.get('verdict') || verdict_of(c) === state.get('verdict')) &&
          words.every((w) => `${c.id} ${c.claim} ${c.measured} ${c.source} ${c.verdict}`.toLowerCase().includes(w));
        const shown = chosen.claims.filter(fits);
        list.append(...shown.map((c) => claim_item(c, state.get('claim') === c.id)));
        if (!shown.length) list.append(h('p', { class: 'nothing' }, 'No claim fits.'));
      };
      fill();
      place.append(list);
      document.getElementById(`claim-${state.get('claim')}`)?.scrollIntoView({ block: 'center' });
    },
  };
}
