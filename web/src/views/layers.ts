// Any two arrangements side by side: what they compute, how they are drawn, and how gradient and loss went through their units.
import { diagram_of, draw_diagram } from '../charts/diagram';
import type { ReportData } from '../data';
import { choose, h, type Child } from '../dom';
import { figure } from '../figure';
import { formula, formula_lines } from '../formula';
import * as labs from '../labs';
import { look_of } from '../palette';
import { key_of, lab_choice, nothing } from '../parts';
import type { View } from '../shell';
import * as state from '../state';
import { gain_figure } from './gain_figure';
import { unit_figures } from './unit_figures';

function fact(term: string, ...text: Child[]): Child {
  return text.every((t) => !t) ? null : h('div', null, h('dt', null, term), h('dd', null, text));
}

function description(name: string): HTMLElement {
  const entry = labs.entry_of(name);
  const row = labs.current()?.rows.find((r) => r.arrangement === name);
  const text = entry?.formula ?? row?.formula ?? '';
  const graph = diagram_of(entry);
  return h(
    'section',
    { class: 'side', 'aria-label': name },
    h('h2', null, key_of(look_of(name)), ' ', name),
    text
      ? h(
          'div',
          { class: 'big-formula' },
          formula_lines(text).map((f) => h('div', null, f)),
        )
      : null,
    h(
      'dl',
      { class: 'about' },
      entry?.entry && entry.entry !== 'x₀ = e' ? fact('at the entry', formula(entry.entry)) : null,
      fact('at the exit', entry?.exit ? formula(entry.exit) : null, entry?.final_norm ? ' (the final norm)' : null),
      (entry?.stacks?.[0]?.symbols ?? []).length ? fact('where', (entry?.stacks?.[0]?.symbols ?? []).join('; ')) : null,
      fact('from', [entry?.source, entry?.year ? ` (${entry.year})` : '']),
      fact('used by', entry?.used_by),
      fact('fails by', entry?.known_failure),
      fact('parameters a unit', entry?.extra_params_per_unit),
    ),
    graph
      ? figure({
          title: `One layer of ${name}`,
          class: 'diagram-figure',
          draw: (width) => draw_diagram(name, graph, Math.min(width, 460)),
          table: () => ({
            columns: ['from', 'to', 'kind'],
            rows: graph.edges.map((e) => [text_of(graph, e.from), text_of(graph, e.to), e.kind]),
          }),
        })
      : nothing('There is no picture of this arrangement on the page.'),
  );
}

function text_of(graph: { nodes: { id: string; text: string }[] }, id: string): string {
  return graph.nodes.find((n) => n.id === id)?.text ?? id;
}

function default_pair(names: string[]): [string, string] {
  const in_lab = labs.current()?.rows.map((r) => r.arrangement) ?? [];
  const prefer = (list: string[]): string | undefined => list.find((n) => names.includes(n));
  const first = prefer(in_lab.includes('post-ln') ? ['post-ln'] : in_lab) ?? names[0];
  const second =
    prefer((in_lab.includes('pre-ln') ? ['pre-ln', ...in_lab] : in_lab).filter((n) => n !== first)) ??
    names.find((n) => n !== first) ??
    first;
  return [first, second];
}

export function layers_view(data: ReportData): View {
  const all_names = (): string[] => [
    ...new Set([...labs.all().flatMap((t) => t.rows.map((r) => r.arrangement)), ...(data.arrangements ?? []).map((a) => a.name)]),
  ];
  return {
    id: 'layers',
    title: 'Side by side',
    empty: () => !all_names().length,
    watches: ['lab', 'a', 'b', 'row'],
    draw(place) {
      const names = all_names();
      const [first, second] = default_pair(names);
      const a = names.includes(state.get('a')) ? state.get('a') : first;
      const b = names.includes(state.get('b')) ? state.get('b') : a === second ? first : second;
      const choices = names.map((n) => ({ value: n, text: n }));
      place.append(
        h('h1', null, 'Two arrangements side by side'),
        h(
          'p',
          { class: 'lead' },
          'The upright line is the residual stream. Look where the norms stand: on the stream itself, or on a branch beside it.',
        ),
        h(
          'div',
          { class: 'controls' },
          choose('Left', choices, a, (value) => state.set({ a: value })),
          choose('Right', choices, b, (value) => state.set({ b: value })),
          lab_choice(),
        ),
        h('div', { class: 'pair' }, description(a), description(b)),
        gain_figure([a, b], data.preflights ?? []),
      );
      for (const part of unit_figures([a, b])) place.append(part);
    },
  };
}
