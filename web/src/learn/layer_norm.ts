// Layer norm, step by step, on numbers that the reader types.
import { vector_bars } from '../charts/vector_bars';
import { clear, h } from '../dom';
import { make_figure } from '../figure';
import { formula } from '../formula';
import { short } from '../numbers';
import * as state from '../state';
import { kNormed, kRootOfVariance } from './code_lines';
import { code, evidence, say, type Topic } from './topic';

const kStart = '2, -1, 0.5, 3, -0.5, 1';

// LN(x) is drawn from -3 to 3, or as far as it can get with so many features, this gain and this bias: √(d - 1)·γ + β. The scale
// knows nothing of x, so that bars move only if the result does.
const kUsual = 3;

function read(text: string): number[] {
  return text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map(Number)
    .filter(Number.isFinite)
    .slice(0, 16);
}

export const layer_norm_topic: Topic = {
  id: 'layer-norm',
  title: 'Layer norm, step by step',
  draw(place, data) {
    const field = (label: string, name: string, value: string): { label: HTMLElement; input: HTMLInputElement } => {
      const input = h('input', {
        type: 'text',
        value: state.get(name, value),
        inputmode: 'text',
        spellcheck: 'false',
        size: name === 'vector' ? 26 : 6,
        oninput: () => {
          state.set({ [name]: input.value === value ? '' : input.value }, true);
          compute();
        },
      }) as HTMLInputElement;
      return { label: h('label', { class: 'choose' }, h('span', null, label), input), input };
    };
    const vector = field('Your vector', 'vector', kStart),
      eps = field('epsilon', 'eps', '0.00001'),
      gain = field('gain γ', 'gain', '1'),
      bias = field('bias β', 'bias', '0');
    const number = (input: HTMLInputElement, otherwise: number): number =>
      input.value.trim() !== '' && Number.isFinite(Number(input.value)) ? Number(input.value) : otherwise;
    let x: number[] = [],
      centred: number[] = [],
      y: number[] = [],
      most = kUsual;
    const steps = h('ol', { class: 'steps', 'aria-live': 'polite' });
    const drawn = make_figure({
      title: 'Your vector on its way through layer norm',
      draw: (width) =>
        vector_bars(
          [
            { name: 'x', values: x, colour: 'var(--c5)' },
            { name: 'x − μ', values: centred, colour: 'var(--c4)' },
            { name: 'LN(x)', values: y, colour: 'var(--c0)', most },
          ],
          width,
          'Layer norm',
        ),
      table: () => ({ columns: ['x', 'x - mean', 'LN(x)'], rows: x.map((v, i) => [v, centred[i], y[i]]) }),
      note: 'Watch what the buttons do: shift all numbers, or multiply them all, and the result stays as it was. That knowledge is gone for good; no gain and no bias brings it back. x and x − μ share a scale that grows with them; that of LN(x) stays.',
    });
    const compute = (): void => {
      x = read(vector.input.value);
      if (!x.length) x = [0];
      const e = Math.max(0, number(eps.input, 1e-5)),
        g = number(gain.input, 1),
        b = number(bias.input, 0);
      const mean = x.reduce((p, q) => p + q, 0) / x.length;
      centred = x.map((v) => v - mean);
      const variance = centred.reduce((p, q) => p + q * q, 0) / x.length;
      y = centred.map((c) => (c / Math.sqrt(variance + e)) * g + b);
      most = Math.max(kUsual, Math.sqrt(x.length - 1) * Math.abs(g) + Math.abs(b));
      const out = y.map((v) => (v - b) / (g || 1)),
        kept = out.reduce((p, q) => p + q * q, 0) / out.length;
      clear(steps);
      steps.append(
        h(
          'li',
          null,
          'The mean over the features: ',
          formula('μ = Σ_k x_k/d'),
          ' = ',
          h('b', null, short(mean)),
          h('span', { class: 'quiet' }, ', one number for the whole vector'),
        ),
        h(
          'li',
          null,
          'The variance, divided by their number: ',
          formula('v = Σ_k (x_k − μ)^2/d'),
          ' = ',
          h('b', null, short(variance)),
        ),
        h(
          'li',
          null,
          'Centre, divide, then gain and bias: ',
          formula('y = γ·(x − μ)/√(v + ε) + β'),
          ' = ',
          h('b', null, y.map((v) => (Number.isFinite(v) ? short(v) : 'not a number')).join(', ')),
        ),
        h(
          'li',
          null,
          Number.isFinite(kept)
            ? `Before gain and bias the variance is ${short(kept, 4)}: v / (v + ε).`
            : 'All features are alike and epsilon is 0: that is 0 / 0. This is why epsilon is there.',
        ),
      );
      drawn.redraw();
    };
    const put = (f: (v: number[]) => number[]) => (): void => {
      vector.input.value = f(read(vector.input.value))
        .map((v) => Number(v.toPrecision(5)))
        .join(', ');
      state.set({ vector: vector.input.value }, true);
      compute();
    };
    place.append(
      ...say(
        'A norm brings a vector to a size that the next function can count on. **Layer norm** does it with the numbers of one token alone: no other token, no other sequence and no batch has a say. It has two learned vectors, a **gain** that starts at 1 and a **bias** that starts at 0, one number per feature; both move away from there in training.',
      ),
      h('div', { class: 'controls bench' }, vector.label, eps.label, gain.label, bias.label),
      h(
        'div',
        { class: 'controls' },
        h('button', { type: 'button', onclick: put((v) => v.map((n) => n * 3)) }, '× 3'),
        h('button', { type: 'button', onclick: put((v) => v.map((n) => n + 2)) }, '+ 2'),
        h('button', { type: 'button', onclick: put((v) => v.map(() => 1)) }, 'all alike'),
        h('button', { type: 'button', onclick: put((v) => v.map((n) => n / 100)) }, '÷ 100'),
        h(
          'button',
          {
            type: 'button',
            onclick: () => {
              eps.input.value = '0.01';
              state.set({ eps: '0.01' }, true);
              compute();
            },
          },
          'epsilon 0.01',
        ),
        h(
          'button',
          {
            type: 'button',
            onclick: () => {
              vector.input.value = kStart;
              eps.input.value = '0.00001';
              gain.input.value = '1';
              bias.input.value = '0';
              state.set({ vector: '', eps: '', gain: '', bias: '' }, true);
              compute();
            },
          },
          'start again',
        ),
      ),
      steps,
      drawn.element,
      ...say(
        'Try "÷ 100" and "epsilon 0.01" together: the variance of the result falls far below 1, because epsilon is no longer small beside the variance. Usual values lie between 0.00001 and 0.000000000001.',
      ),
      code(kRootOfVariance),
      code(kNormed),
      evidence(data, 'S35', 'S36', 'S37', 'S38', 'S67', 'S70'),
    );
    compute();
  },
};
