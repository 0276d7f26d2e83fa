// The closed-form skip gain against depth, with what was measured as dots and a depth to read off.
import { line_chart, type Series } from '../charts/line_chart';
import { h, slider } from '../dom';
import { make_figure } from '../figure';
import * as labs from '../labs';
import { known, short } from '../numbers';
import { look_of } from '../palette';
import type { Preflight } from '../results';
import { bottom_over_top, closed_form, measured } from '../skip_gain';
import * as state from '../state';
import { with_terms } from '../terms';

const kLeast = 1e-12;

function sentence(names: string[], depth: number): string {
  return names
    .map((name) => {
      const gain = closed_form(name, depth);
      if (!known(gain)) return `${name} has no closed form`;
      return `${name} keeps ${gain > 0.995 ? 'all' : short(gain)}`;
    })
    .join('; ');
}

/** " In post-ln, 12 layers, the gradient at the bottom is 9 times that at the top at step 1, and 0.003 times at step 300." */
function gradient_text(name: string): string {
  const found = bottom_over_top(name);
  if (!found) return '';
  const { from, first, last } = found;
  const now = `${short(first.ratio, 2)} times that at the top at step ${first.step}`;
  return ` In ${from} the gradient at the bottom is ${now}, and ${short(last.ratio, 2)} times at step ${last.step}.`;
}

export function gain_figure(pair: string[], preflights: Preflight[]): HTMLElement {
  const names = [...new Set(pair)];
  let depth = Math.round(state.number('depth', 24));
  const summary = h('p', { class: 'summary', role: 'status' });
  const series = (): Series[] =>
    names.flatMap((name): Series[] => {
      const curve = labs.entry_of(name)?.gain;
      const look = look_of(name);
      const dots = measured(name, preflights).sort((p, q) => p.layers - q.layers);
      return [
        ...(curve?.layers?.length ? [{ name, look, x: curve.layers, y: curve.gain }] : []),
        ...(dots.length
          ? [{ name: `${name}, measured`, look, x: dots.map((d) => d.layers), y: dots.map((d) => d.gain), points: true }]
          : []),
      ];
    });
  const show_summary = (): void => {
    summary.textContent = `With ${depth} layers, on the skips alone, of what went in at the bottom: ${sentence(names, depth)}.`;
  };
  const drawn = make_figure({
    title: 'Skip gain: what the skips alone carry from bottom to top',
    level: 2,
    controls: slider(
      'Layers',
      { min: 1, max: 96 },
      depth,
      (v) => String(v),
      (v) => {
        depth = v;
        state.set({ depth: String(v) }, true);
        show_summary();
        drawn.redraw();
      },
    ),
    note: [
      "Lines: the closed form, with branches as strong as what they read. Dots: measured before the first step, or at it, with the branches as they really begin; small initial weights, like GPT-2's, make them weaker, and the gain larger. ",
      with_terms('A small [[skip gain]] does not mean that no gradient arrives: at the first step the branches carry it.'),
      names.map(gradient_text),
    ],
    draw: (width) =>
      line_chart(
        {
          series: series(),
          x_label: 'layers',
          y_label: 'skip gain',
          log_x: true,
          log_y: true,
          y_domain: [kLeast, 2],
          height: 300,
          marker: { x: depth, text: `${depth} layers` },
          describe: `Closed-form skip gain of ${names.join(' and ')} against depth, measured values as dots`,
        },
        width,
      ),
    table: () => ({
      columns: ['series', 'layers', 'skip gain'],
      rows: series().flatMap((s) => s.x.map((x, i) => [s.name, x, s.y[i]])),
    }),
  });
  show_summary();
  drawn.element.insertBefore(summary, drawn.element.querySelector('.drawing'));
  return drawn.element;
}
