// Preflight: the model's profile before the first step and after a trial of real ones, the verdict, and advice that passed the same trial.
import { line_chart, type Series } from '../charts/line_chart';
import type { ReportData } from '../data';
import { choose, h, type Child } from '../dom';
import { figure } from '../figure';
import { formula_lines } from '../formula';
import { place_name } from '../metrics';
import { known, percent, short } from '../numbers';
import { look_of } from '../palette';
import { badge, sentence } from '../parts';
import type { Preflight } from '../results';
import type { View } from '../shell';
import * as state from '../state';
import { term, terms_in, with_terms } from '../terms';

type Profile = (number | null)[] | undefined;

function profile(title: string, note: Child, before: Profile, after: Profile, log: boolean): HTMLElement | null {
  if (!before?.length && !after?.length) return null;
  const series: Series[] = [];
  const x = (list: (number | null)[]): number[] => list.map((_, i) => i);
  if (before?.length) series.push({ name: 'first step', look: look_of('pre-ln'), x: x(before), y: before });
  if (after?.length)
    series.push({ name: 'after the trial', look: { ...look_of('post-ln'), dash: '6 3' }, x: x(after), y: after });
  return figure({
    title,
    note,
    draw: (width) =>
      line_chart(
        {
          series,
          x_label: 'place on the stream',
          y_label: title,
          log_y: log,
          height: 250,
          describe: `${title} at every place of the stream, at the first step and after the trial`,
        },
        width,
      ),
    table: () => ({ columns: ['when', 'place', title], rows: series.flatMap((s) => s.x.map((p, i) => [s.name, p, s.y[i]])) }),
  });
}

function trial_figure(p: Preflight): HTMLElement | null {
  const trials = [
    ...(p.trials ?? []).map((t, i) => ({ name: `trial, seed ${t.seed ?? i + 1}`, losses: t.losses })),
    ...(p.second_look ? [{ name: 'second look', losses: p.second_look.losses }] : []),
  ].filter((t) => t.losses?.length);
  if (!trials.length) return null;
  const looks = ['pre-ln', 'deepnorm', 'rezero', 'post-ln'];
  const series = trials.map((t, i): Series => ({
    name: t.name,
    look: look_of(t.name === 'second look' ? 'post-ln' : looks[i % 3]),
    x: (t.losses ?? []).map((_, k) => k + 1),
    y: t.losses ?? [],
  }));
  return figure({
    title: 'Loss of the trials',
    note: 'Short trials with a squeezed warm-up settle most cases; where they do not, the beginning of the run itself is looked at.',
    draw: (width) =>
      line_chart(
        { series, x_label: 'step', y_label: 'loss, nats per token', height: 250, describe: 'Loss of the trials against step' },
        width,
      ),
    table: () => ({ columns: ['trial', 'step', 'loss'], rows: series.flatMap((s) => s.x.map((x, i) => [s.name, x, s.y[i]])) }),
  });
}

/** How far the verdict can be trusted: how often such ones were right, on what, and for how long. */
function trust(p: Preflight): Child {
  if (!known(p.confidence)) return null;
  const beyond = p.beyond_measured ? `, but ${p.beyond_measured}` : '';
  const reach = p.horizon ? `; the verdict is for the first ${p.horizon} steps` : '';
  return h(
    'span',
    { class: 'quiet' },
    ` Verdicts of this kind were right in ${percent(p.confidence)} of held-out runs${beyond}${reach}.`,
  );
}

export function preflight_view(data: ReportData): View {
  const all = data.preflights ?? [];
  return {
    id: 'preflight',
    title: 'Preflight',
    empty: () => !all.length,
    watches: ['p'],
    draw(place) {
      const p = all[state.number('p', 0)] ?? all[0];
      const o = p.options ?? {},
        notes = p.notes ?? [];
      const what = [
        o.arrangement,
        known(o.layers as number) ? `${o.layers} layers` : '',
        known(o.lr as number) ? `lr ${o.lr}` : '',
        o.warmup_steps ? `warm-up ${o.warmup_steps}` : 'no warm-up',
      ]
        .filter(Boolean)
        .join(', ');
      place.append(
        h('h1', null, `${what}: `, badge(p.verdict)),
        h(
          'p',
          { class: 'lead' },
          terms_in(sentence(p.reason)),
          trust(p),
          p.twin ? h('span', { class: 'quiet' }, ` Tried as a narrower twin: ${p.twin}.`) : null,
        ),
        notes.length
          ? h(
              'ul',
              { class: 'notes' },
              notes.map((n) => h('li', null, sentence(n))),
            )
          : '',
        h(
          'div',
          { class: 'controls' },
          all.length > 1
            ? choose(
                'Preflight',
                all.map((q, i) => ({ value: String(i), text: q.name })),
                state.get('p', '0'),
                (value) => state.set({ p: value }),
              )
            : null,
        ),
        p.formula
          ? h(
              'div',
              { class: 'big-formula' },
              formula_lines(p.formula).map((f) => h('div', null, f)),
            )
          : '',
      );
      const advice = p.advice ?? [];
      place.append(
        h(
          'section',
          { class: 'advice' },
          h('h2', null, advice.length ? 'Advice that passed the same trial' : 'Advice'),
          advice.length
            ? h(
                'ol',
                null,
                advice.map((a) =>
                  h('li', null, h('code', null, a.option), ' ', h('span', null, a.change, ' '), badge(a.verdict)),
                ),
              )
            : h(
                'p',
                null,
                p.verdict === 'trains' ? 'None is needed.' : 'No change that was tried passed, or none was looked for.',
              ),
        ),
      );
      const facts: [Child, string][] = [
        [[term('skip gain'), ', closed form'], short(p.skip_gain_predicted)],
        [[term('skip gain'), ', measured'], short(p.skip_gain_measured)],
        ['change of the output under a small change of all weights', short(p.output_sensitivity)],
        ['change of the output by the first update', short(p.one_step_change)],
      ];
      place.append(
        h(
          'dl',
          { class: 'facts wide' },
          facts.map(([term, value]) => h('div', null, h('dt', null, term), h('dd', null, value))),
        ),
      );
      const names = p.units?.length
        ? `Place 0 is the stack's input, place ${p.units.length} is after ${place_name(p.units[p.units.length - 1])}.`
        : '';
      place.append(
        h(
          'div',
          { class: 'halves' },
          [
            profile(
              'Gradient norm',
              `The gradient of the loss at every place. ${names}`,
              p.gradient_norm,
              p.gradient_norm_after,
              true,
            ),
            profile(
              'Spread between tokens',
              with_terms('The [[spread]] at every [[place]]: what fell to 0 in the trial, nothing above can distinguish.'),
              p.spread_at_start,
              p.spread,
              true,
            ),
            profile('Stream RMS', 'The size of the stream.', p.stream_rms, p.stream_rms_after, true),
            trial_figure(p),
          ].filter((f): f is HTMLElement => !!f),
        ),
      );
    },
  };
}
