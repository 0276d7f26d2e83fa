// X-ray: a trained model unit by unit. Which units work, which could go, and what the stream carries.
import type { ReportData } from '../data';
import { choose, h, type Child } from '../dom';
import { formula_lines } from '../formula';
import { place_name } from '../metrics';
import { fixed, known, listed, short } from '../numbers';
import { data_table, sentence } from '../parts';
import type { Xray, XrayStack } from '../results';
import type { View } from '../shell';
import * as state from '../state';
import { xray_figures } from './xray_figures';

function stack_of(x: Xray): XrayStack {
  return x.stacks.find((s) => s.name === state.get('stack')) ?? x.stacks[x.stacks.length - 1];
}

function by_loss(x: Xray): boolean {
  return x.measure !== 'embedding';
}

function title(x: Xray, stack: XrayStack): string {
  const could_go = stack.expendable?.units.length ?? 0;
  const name = x.model.name || x.name;
  if (!stack.bypass_change?.length) return name;
  if (!could_go) return `${name}: every unit counts`;
  return `${name}: ${could_go} of ${stack.units.length} units could go`;
}

function facts(x: Xray): [string, Child][] {
  const m = x.model,
    t = x.text ?? {};
  const size = [m.layers ? `${m.layers} layers` : '', m.d_model ? `d_model ${m.d_model}` : ''].filter(Boolean).join(', ');
  const read = [t.source, t.tokens ? `${t.tokens.toLocaleString('en-US')} tokens` : ''].filter(Boolean).join(': ');
  return [
    ['arrangement', m.arrangement],
    ['model', [m.kind, size].filter(Boolean).join(', ')],
    ['parameters', known(m.parameters) ? m.parameters.toLocaleString('en-US') : '–'],
    [by_loss(x) ? `${x.measure}, nats` : 'costs are', by_loss(x) ? fixed(x.loss, 4) : 'cosine distances of the embedding'],
    ['it read', read],
  ];
}

/** What could go, in words: each by itself, and all of them at once. */
function verdict(x: Xray, stack: XrayStack): Child {
  const units = stack.expendable?.units ?? [];
  if (!units.length) return null;
  const names = units.map((u) => place_name(stack.units[u] ?? `unit ${u}`));
  const some = names.length > 6 ? [...names.slice(0, 5), `${names.length - 5} more`] : names;
  const together = stack.expendable?.together;
  const cost = known(together) ? `${short(together)}${by_loss(x) ? ' nats' : ' in cosine distance'}` : 'an unknown price';
  return h(
    'p',
    { class: 'finding' },
    `By-passed one by one, ${listed(some)} ${names.length > 1 ? 'each cost' : 'costs'} at most 1 % ${by_loss(x) ? 'of the loss' : 'in distance'}; `,
    h('strong', null, names.length > 1 ? `all ${names.length} at once cost ${cost}.` : `it costs ${cost}.`),
  );
}

function number_table(x: Xray, stack: XrayStack): HTMLElement {
  const lens = stack.lens_loss ?? stack.lens_change;
  const columns: [string, (i: number) => string][] = [
    ['stream RMS', (i) => short(stack.stream_rms?.[i])],
    ['largest / median', (i) => short(stack.peaks?.[i]?.over_median)],
    ['branch share', (i) => short(stack.branch_share?.[i - 1])],
    ['update ratio', (i) => short(stack.update_ratio?.[i - 1])],
    ['cosine', (i) => short(stack.cosine?.[i - 1])],
    ['attention entropy', (i) => short(stack.attention_entropy?.[i - 1])],
    ['by-passed', (i) => short(stack.bypass_change?.[i - 1])],
    ['ended here', (i) => short(lens?.[i])],
    ['attribution', (i) => short(stack.attribution?.[i])],
  ];
  const rows = ['input of the stack', ...stack.units.map((u) => `${place_name(u)} (${u})`)].map((name, i): Child[] => [
    name,
    ...columns.map(([, text]) => text(i)),
  ]);
  return data_table(`Every unit of ${x.model.name || x.name}`, ['unit', ...columns.map(([name]) => name)], rows);
}

export function xray_view(data: ReportData): View {
  const all = (data.xrays ?? []).filter((x) => x.stacks?.length);
  return {
    id: 'xray',
    title: 'X-ray',
    empty: () => !all.length,
    watches: ['x', 'stack'],
    draw(place) {
      const x = all[state.number('x', 0)] ?? all[0];
      const stack = stack_of(x);
      const findings = (x.findings ?? []).map(sentence);
      place.append(
        h('h1', null, title(x, stack)),
        h('p', { class: 'lead' }, findings.join(' ')),
        h(
          'div',
          { class: 'controls' },
          all.length > 1
            ? choose(
                'Model',
                all.map((o, i) => ({ value: String(i), text: o.name })),
                String(all.indexOf(x)),
                (value) => state.set({ x: value }),
              )
            : null,
          x.stacks.length > 1
            ? choose(
                'Stack',
                x.stacks.map((s) => ({ value: s.name, text: s.name })),
                stack.name,
                (value) => state.set({ stack: value }),
              )
            : null,
        ),
        x.model.formula
          ? h(
              'div',
              { class: 'big-formula' },
              formula_lines(x.model.formula).map((f) => h('div', null, f)),
            )
          : '',
        h(
          'dl',
          { class: 'facts wide' },
          facts(x).map(([term, value]) => h('div', null, h('dt', null, term), h('dd', null, value))),
        ),
        verdict(x, stack) ? (verdict(x, stack) as HTMLElement) : '',
        h('div', { class: 'halves' }, xray_figures(x, stack)),
        number_table(x, stack),
      );
      const missing = x.missing ?? [];
      if (missing.length)
        place.append(
          h('h2', null, 'What was not measured'),
          h(
            'ul',
            { class: 'notes' },
            missing.map((m) => h('li', null, h('code', null, m.what), `: ${sentence(m.why)}`)),
          ),
        );
    },
  };
}
