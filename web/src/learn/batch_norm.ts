// Layer norm against batch norm, with the batch size as a slider.
import { h, slider, styled, svg } from '../dom';
import { make_figure } from '../figure';
import { deviation, mean, short } from '../numbers';
import { scaleLinear } from 'd3-scale';
import { x_axis, y_axis, type Box, type Scale } from '../charts/axes';
import { kMarks } from '../palette';
import { kBatchMean, kNormed } from './code_lines';
import { code, evidence, formulas, say, type Topic } from './topic';
import { layer_norm, normals } from './vectors';

const kFeatures = 6,
  kBatches = 24;
const kToken = [1.6, -0.4, 0.9, -1.3, 0.2, 2.1];

/** The token's own row, normed with the statistics of a batch that it shares with size - 1 others. */
function batch_normed(size: number, seed: number): number[] {
  const random = normals(seed);
  const rows = [
    kToken,
    ...Array.from({ length: size - 1 }, () =>
      Array.from({ length: kFeatures }, (_, j) => random() * (0.6 + 0.3 * j) + 0.3 * (j - 2)),
    ),
  ];
  return kToken.map((v, j) => {
    const column = rows.map((r) => r[j]),
      m = mean(column);
    const variance = column.reduce((a, b) => a + (b - m) ** 2, 0) / size;
    return (v - m) / Math.sqrt(variance + 1e-5);
  });
}

export const batch_norm: Topic = {
  id: 'batch-norm',
  title: 'Layer norm or batch norm',
  draw(place, data) {
    let size = 4;
    const ln = layer_norm(kToken);
    const outcomes = (): number[][] => Array.from({ length: kBatches }, (_, k) => batch_normed(size, 1000 + k));
    const summary = h('p', { class: 'summary', role: 'status' });
    const draw = (width: number): SVGSVGElement => {
      const height = 300,
        box: Box = { left: 46, top: 30, width: width - 64, height: height - 74 };
      const x = scaleLinear()
        .domain([0.5, kFeatures + 0.5])
        .range([box.left, box.left + box.width]) as unknown as Scale;
      const y = scaleLinear()
        .domain([-3.2, 3.2])
        .range([box.top + box.height, box.top]) as unknown as Scale;
      const at = (v: number): number => y(Math.max(-3.2, Math.min(3.2, v)));
      const root = svg(
        'svg',
        {
          viewBox: `0 0 ${width} ${height}`,
          width,
          height,
          role: 'img',
          class: 'chart',
          'aria-label': `Six features of one token after batch norm in ${kBatches} batches of ${size}, and after layer norm`,
        },
        y_axis(y, box, 'normed value'),
        x_axis(x, box, 'feature', false, [1, 2, 3, 4, 5, 6], String),
      );
      outcomes().forEach((values, k) =>
        values.forEach((v, j) =>
          root.appendChild(
            styled(
              svg('path', {
                d: kMarks[1],
                transform: `translate(${x(j + 1) + (k / kBatches - 0.5) * 26 + 16},${at(v)}) scale(0.65)`,
                'fill-opacity': 0.75,
              }),
              { fill: 'var(--c1)' },
            ),
          ),
        ),
      );
      ln.forEach((v, j) =>
        root.appendChild(
          styled(svg('path', { d: kMarks[0], transform: `translate(${x(j + 1) - 14},${at(v)}) scale(1.3)` }), {
            fill: 'var(--c0)',
          }),
        ),
      );
      return root;
    };
    const show_summary = (): void => {
      const all = outcomes();
      const spread = mean(kToken.map((_, j) => deviation(all.map((o) => o[j]))));
      summary.textContent =
        size === 1
          ? 'A batch of one: every feature is its own mean, and batch norm returns nothing but zeros. Layer norm does not notice.'
          : `In batches of ${size} the same token comes out of batch norm differently each time: deviation ${short(spread, 2)}. Layer norm: 0.`;
    };
    const drawn = make_figure({
      title: 'One token, normed in the company of others',
      draw,
      controls: slider('Batch size', { min: 1, max: 64 }, size, String, (v) => {
        size = v;
        show_summary();
        drawn.redraw();
      }),
      note: h(
        'span',
        null,
        '● layer norm, ■ batch norm in 24 random batches. The token is always the same; only its neighbours change. Computed here.',
      ),
      table: () => ({
        columns: ['norm', 'batch', ...kToken.map((_, j) => `feature ${j + 1}`)],
        rows: [['layer', null, ...ln], ...outcomes().map((o, k) => ['batch', k + 1, ...o])],
      }),
    });
    drawn.element.insertBefore(summary, drawn.element.querySelector('.drawing'));
    show_summary();
    place.append(
      ...say(
        '**Batch norm** takes one feature and looks down the batch; **layer norm** takes one token and looks along its features. So what batch norm does to a token depends on who else is in the batch, and how many; and at test time, when there may be no batch at all, it needs averages remembered from training.',
        'Sequences of different length make it worse: padding and neighbours leak into the statistics. In a Transformer each position is normed by itself, and none of this arises.',
      ),
      formulas(
        ['LN: μ = Σ_k x_k/d', 'over the d features of one token'],
        ['BN: μ_k = Σ_b x_bk/B', 'over the B rows of the batch, for every feature'],
      ),
      drawn.element,
      ...say(
        'How much does it matter in practice? Less than one might think: in our own small language models batch norm was no worse than layer norm (C30 below). The dependence on the batch is real; that it always hurts is not shown by these runs.',
      ),
      code(kBatchMean),
      code(kNormed),
      evidence(data, 'S33', 'S63', 'S64', 'S65', 'C30'),
    );
  },
};
