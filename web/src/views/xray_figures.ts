// The figures of an x-ray: profiles over depth, bars of units, gains of norms.
import { line_chart, type Series } from '../charts/line_chart';
import { unit_bars, type UnitBar } from '../charts/unit_bars';
import { figure } from '../figure';
import { place_name } from '../metrics';
import { known, short } from '../numbers';
import { look_of } from '../palette';
import type { Xray, XrayNorm, XrayStack } from '../results';

type Values = (number | null)[];

const kKinds = [
  { name: 'attention', colour: 'var(--c0)' },
  { name: 'feed-forward', colour: 'var(--c1)', pattern: 'hatched' as const },
  { name: 'cross-attention', colour: 'var(--c2)' },
  { name: 'embedding and biases', colour: 'var(--c5)' },
];

function kind_of(unit: string): number {
  return /\.ffn\d*$/.test(unit) ? 1 : /\.cross\d*$/.test(unit) ? 2 : 0;
}

/** Findings name units by their paths, as the program does. */
function unit_name(unit: string): string {
  return `${place_name(unit)} (${unit})`;
}

function places(stack: XrayStack): string[] {
  return ['input of the stack', ...stack.units.map((u) => `after ${unit_name(u)}`)];
}

interface Profile {
  title: string;
  note: string;
  y_label: string;
  series: { name: string; values: Values | undefined; by: 'place' | 'unit'; dash?: string; points?: boolean }[];
  log?: boolean;
  references?: { value: number; text: string }[];
  range?: [number, number];
}

/** Lines over depth; the x of a unit is that of the place after it. */
function profile(stack: XrayStack, p: Profile): HTMLElement | null {
  const looks = ['pre-ln', 'post-ln', 'deepnorm'];
  const series = p.series.flatMap((s, i): Series[] => {
    if (!s.values?.some(known)) return [];
    const first = s.by === 'place' ? 0 : 1;
    return [
      {
        name: s.name,
        look: { ...look_of(looks[i % looks.length]), dash: s.dash ?? '' },
        x: s.values.map((_, k) => k + first),
        y: s.values,
        points: s.points,
      },
    ];
  });
  if (!series.length) return null;
  const names = places(stack);
  return figure({
    title: p.title,
    note: p.note,
    draw: (width) =>
      line_chart(
        {
          series,
          x_label: 'place on the stream',
          y_label: p.y_label,
          log_y: p.log,
          references: p.references,
          y_domain: p.range,
          height: 260,
          x_name: (v) => names[v] ?? String(v),
          describe: `${p.title}, place by place`,
        },
        width,
      ),
    table: () => ({
      columns: ['series', 'place', 'name', p.y_label],
      rows: series.flatMap((s) => s.x.map((at, i) => [s.name, at, names[at], s.y[i]])),
    }),
  });
}

function bars(title: string, note: string, y_label: string, x_label: string, all: UnitBar[]): HTMLElement | null {
  if (!all.some((b) => known(b.value))) return null;
  return figure({
    title,
    note,
    draw: (width) => unit_bars({ bars: all, kinds: kKinds, x_label, y_label, height: 260, describe: title }, width),
    table: () => ({ columns: [x_label, 'name', y_label], rows: all.map((b, i) => [i + 1, b.name, b.value]) }),
  });
}

function bypass_figure(x: Xray, stack: XrayStack): HTMLElement | null {
  const by_loss = x.measure !== 'embedding';
  const could_go = new Set(stack.expendable?.units ?? []);
  return bars(
    'What each unit is worth',
    `${by_loss ? 'How much the loss rises' : 'How far the embedding turns'} when the branch of this unit gives 0 and all others stay. Units near 0 do nothing that others could not do without.`,
    by_loss ? 'change of the loss, nats' : 'cosine distance',
    'unit, from the bottom',
    stack.units.map((u, i) => ({
      name: unit_name(u),
      value: stack.bypass_change?.[i] ?? null,
      kind: kind_of(u),
      note: could_go.has(i) ? 'could go' : undefined,
    })),
  );
}

function attribution_figure(x: Xray, stack: XrayStack): HTMLElement | null {
  const parts = stack.attribution ?? [];
  const names = ['embedding', ...stack.units.map(unit_name), 'biases'];
  const of = x.measure === 'embedding' ? 'the embedding (1 in all)' : `the label's logit, ${short(x.attribution?.whole)} above the mean of all`;
  const how =
    x.attribution?.ln === 'recompute'
      ? 'Norms are computed anew: a bar is what the logits change by when the stack ends after this unit and not before it.'
      : 'Every norm keeps the scale it has in the whole pass, so that the head can be applied to each part by itself.';
  return bars(
    'Who makes the output',
    `What each part brings to ${of}; the bars add up to it. ${how}`,
    x.measure === 'embedding' ? 'share of the embedding' : 'contribution to the logit',
    'part: embedding, units, biases',
    parts.map((value, i) => ({
      name: names[i] ?? '',
      value,
      kind: i === 0 || i === parts.length - 1 ? 3 : kind_of(stack.units[i - 1] ?? ''),
    })),
  );
}

function influence_figure(stack: XrayStack): HTMLElement | null {
  return bars(
    'Block influence',
    '1 − cos of the stream before and after a whole layer, mean over tokens (Men et al. 2024, ShortGPT). A layer near 0 hardly turns the stream; whether it can go the loss decides.',
    '1 − cosine',
    'layer, from the bottom',
    (stack.block_influence ?? []).map((value, i) => ({ name: `layer ${i + 1} (layers.${i})`, value, kind: 0 })),
  );
}

/** Gains by unit, a line for each place that norms stand at, the least and greatest gain shaded around it. */
function gain_figure(stack: XrayStack, all: XrayNorm[]): HTMLElement | null {
  const own = all.filter((n) => n.stack === stack.name && known(n.rms));
  if (!own.length) return null;
  const slots = [...new Set(own.map((n) => n.slot))];
  const looks = ['pre-ln', 'post-ln', 'deepnorm', 'norm-skip', 'rezero'];
  const at = (n: XrayNorm): number => (known(n.unit) ? n.unit + 1 : n.slot === 'entry' ? 0 : stack.units.length + 1);
  const series = slots.map((slot, i): Series => {
    const some = own.filter((n) => n.slot === slot).sort((a, b) => at(a) - at(b));
    return {
      name: slot,
      look: look_of(looks[i % looks.length]),
      x: some.map(at),
      y: some.map((n) => n.rms ?? null),
      low: some.map((n) => n.min ?? null),
      high: some.map((n) => n.max ?? null),
    };
  });
  const names = [...places(stack), 'at the exit'];
  return figure({
    title: 'Gains of the norms',
    note: 'RMS of γ of every norm, by the place it stands at; shaded: from the least to the greatest. A gain far from the others picks a feature out, a small RMS quiets what follows.',
    draw: (width) =>
      line_chart(
        {
          series,
          x_label: 'place on the stream',
          y_label: 'gain',
          height: 260,
          x_name: (v) => names[v] ?? String(v),
          describe: 'RMS, least and greatest gain of every norm, by depth',
        },
        width,
      ),
    table: () => ({
      columns: ['norm', 'slot', 'rms', 'min', 'max', 'bias rms'],
      rows: own.map((n) => [n.name, n.slot, n.rms ?? null, n.min ?? null, n.max ?? null, n.bias_rms ?? null]),
    }),
  });
}

function peak_note(stack: XrayStack): string {
  const peaks = stack.peaks ?? [];
  let best = -1;
  peaks.forEach((p, i) => {
    if (known(p.over_median) && p.over_median > (peaks[best]?.over_median ?? 0)) best = i;
  });
  const p = peaks[best];
  if (!p) return '';
  return ` The largest: ${short(p.value)} in feature ${p.feature}, position ${p.position}${p.text ? ` (${p.text})` : ''}, ${places(stack)[best]}.`;
}

export function xray_figures(x: Xray, stack: XrayStack): HTMLElement[] {
  const loss = x.measure !== 'embedding';
  return [
    bypass_figure(x, stack),
    profile(stack, {
      title: 'If the stack ended here',
      note: loss
        ? 'The head reads the stream after every unit, through the usual exit of the stack (logit lens). Where the line is flat, units add nothing that the head can use yet.'
        : 'How far the pooled output of a stack that ends here is from the whole one.',
      y_label: loss ? 'loss, nats' : 'cosine distance',
      series: [{ name: loss ? 'loss' : 'distance', values: stack.lens_loss ?? stack.lens_change, by: 'place' }],
      references: loss && known(x.loss) ? [{ value: x.loss, text: `as it is: ${short(x.loss)}` }] : undefined,
    }),
    profile(stack, {
      title: 'Size of the stream',
      note: 'RMS of the stream at every place, and of each branch as it is added. Norms on the stream hold it; without them it grows.',
      y_label: 'RMS',
      log: true,
      series: [
        { name: 'stream', values: stack.stream_rms, by: 'place' },
        { name: 'branch', values: stack.branch_rms, by: 'unit', dash: '3 3' },
      ],
    }),
    profile(stack, {
      title: 'Share of the branch',
      note: 'Branch: ‖f‖² / (‖skip‖² + ‖f‖²) of the sum that a unit makes. Cosine: of the stream before and after it; 1 is no turn at all.',
      y_label: 'share, cosine',
      series: [
        { name: 'branch share', values: stack.branch_share, by: 'unit' },
        { name: 'cosine', values: stack.cosine, by: 'unit', dash: '3 3' },
      ],
    }),
    attribution_figure(x, stack),
    profile(stack, {
      title: 'Largest activation over the median',
      note: `max |x| over the median |x| at each place. From about 1,000 on such activations are called massive (Sun et al. 2024).${peak_note(stack)}`,
      y_label: 'max / median',
      log: true,
      series: [{ name: 'max / median', values: (stack.peaks ?? []).map((p) => p.over_median ?? null), by: 'place' }],
    }),
    influence_figure(stack),
    profile(stack, {
      title: 'Attention entropy',
      note: '0: a query looks at one key; 1: at all it sees alike. Mean over heads and queries.',
      y_label: 'share of the greatest entropy',
      range: [0, 1],
      series: [{ name: 'entropy', values: stack.attention_entropy, by: 'unit', points: true }],
    }),
    gain_figure(stack, x.norms ?? []),
  ].filter((f): f is HTMLElement => !!f);
}
