// A branch that says nothing leaves the input as it is; a branch that repeats its input does not.
import { vector_bars } from '../charts/vector_bars';
import { toggles } from '../dom';
import { make_figure } from '../figure';
import { kWrite } from './code_lines';
import { code, evidence, formulas, say, type Topic } from './topic';
import { layer_norm } from './vectors';

const kX = [2, -1, 0.5, 1.5, -0.5, 1];
const kBranches: Record<string, { text: string; F: (x: number[]) => number[] }> = {
  zero: { text: 'F = 0', F: (x) => x.map(() => 0) },
  identity: { text: 'F(x) = x', F: (x) => x },
  some: { text: 'F(x) = something', F: (x) => x.map((_, i) => [0.3, 0.8, -0.6, 0.2, 0.9, -1.1][i]) },
};

export const identity: Topic = {
  id: 'identity',
  title: 'Identity when F = 0',
  draw(place, data) {
    let which = 'zero';
    const vectors = (): { name: string; values: number[]; colour: string }[] => {
      const F = kBranches[which].F;
      const sum = kX.map((v, i) => v + F(kX)[i]);
      const pre = F(layer_norm(kX)),
        normed = layer_norm(kX);
      return [
        { name: 'x, the input', values: kX, colour: 'var(--c5)' },
        { name: 'x + F(x)', values: sum, colour: 'var(--c0)' },
        { name: 'x + F(LN(x)), pre-LN', values: kX.map((v, i) => v + pre[i]), colour: 'var(--c0)' },
        { name: 'LN(x + F(x)), Add & Norm', values: layer_norm(sum), colour: 'var(--c1)' },
        { name: 'LN(x) + F(LN(x)), norm-skip', values: normed.map((v, i) => v + pre[i]), colour: 'var(--c3)' },
        { name: 'F(x), no skip', values: F(kX), colour: 'var(--c4)' },
      ];
    };
    const drawn = make_figure({
      title: 'What five units make of one vector',
      controls: toggles(
        'The branch',
        Object.entries(kBranches).map(([value, b]) => ({ value, text: b.text })),
        which,
        (value) => {
          which = value;
          drawn.redraw();
        },
      ),
      note: 'Computed here, as you press. With F = 0 the first two units give x back exactly; those with a norm on the skip give LN(x). With F(x) = x a plain sum gives 2x, which is not x: to leave things alone, a branch must be zero, not the identity.',
      draw: (width) => vector_bars(vectors(), width, `Outputs for ${kBranches[which].text}`),
      table: () => ({
        columns: ['unit', ...kX.map((_, i) => `feature ${i + 1}`)],
        rows: vectors().map((v) => [v.name, ...v.values]),
      }),
    });
    place.append(
      ...say(
        'If a layer has nothing useful to do, the best it can do is nothing. Without a skip that is hard: its matrices would have to become the identity, number by number. With a skip it only has to fall silent, which weights near zero do by themselves.',
        'So a deep stack can begin close to a shallow one, and each unit learns a **residual**: the difference between what came in and what should go out.',
      ),
      formulas(['F(x) = 0', 'then'], ['x + F(x) = x', 'for a bare sum'], ['LN(x + F(x)) = LN(x)', 'for Add & Norm: not x']),
      drawn.element,
      code(kWrite),
      evidence(data, 'S13', 'S14', 'S20', 'S60', 'S61'),
    );
  },
};
