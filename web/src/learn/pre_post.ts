// Pre-LN, post-LN, and the formula that texts print for pre-LN and that is none.
import { diagram_of, draw_diagram } from '../charts/diagram';
import { also_differ } from '../differences';
import { h } from '../dom';
import { figure } from '../figure';
import * as labs from '../labs';
import { sentence } from '../parts';
import { kPreRow, kSkipChoice } from './code_lines';
import { predict } from './predict';
import { code, evidence, formulas, not_here, rows_compared, say, type Topic } from './topic';

const kThree = ['post-ln', 'pre-ln', 'norm-skip'];

/** "12 layers, 200 warm-up steps. ": what all have in common. */
function how_trained(row: labs.Row, not_alike: string[]): string {
  const rate = row.warmup > 0 ? `${row.warmup} warm-up steps` : 'full learning rate from the first step';
  const parts = [
    not_alike.includes('layers') ? '' : `${row.layers || 'Some'} layers`,
    not_alike.includes('warmup_steps') ? '' : rate,
  ].filter(Boolean);
  return parts.length ? `${sentence(parts.join(', '))} ` : '';
}

export const pre_post: Topic = {
  id: 'pre-post',
  title: 'Pre, post, and the misprint',
  draw(place, data) {
    place.append(
      ...say(
        '**Post-LN** norms after the sum, on the stream. **Pre-LN** norms what the branch reads, and leaves the stream alone: from the first embedding to the last layer there is one sum that nothing ever divides.',
        'A third formula goes around under the name of pre-LN. It norms first, and then lets branch **and skip** start from the normed vector. It looks like pre-LN. Write z for the normed stream, and it is post-LN, one norm later.',
      ),
      formulas(
        ["x' = LN(x + F(x))", 'post-LN'],
        ["x' = x + F(LN(x))", 'pre-LN'],
        ["x' = LN(x) + F(LN(x))", 'the misprint: norm-skip'],
        ["z = LN(x); z' = LN(z + F(z))", 'the same, seen from z: post-LN'],
      ),
    );
    const pictures = kThree.flatMap((name) => {
      const graph = diagram_of(labs.entry_of(name));
      return graph
        ? [
            figure({
              title: name,
              class: 'diagram-figure',
              draw: (width) => draw_diagram(name, graph, Math.min(width, 400)),
              table: () => ({ columns: ['from', 'to', 'kind'], rows: graph.edges.map((e) => [e.from, e.to, e.kind]) }),
            }),
          ]
        : [];
    });
    if (pictures.length) place.append(h('div', { class: 'trio' }, pictures));
    const cold = rows_compared(kThree, (r) => labs.judged(r) && !(r.warmup > 0));
    const { rows, also } = cold.rows.length ? cold : rows_compared(kThree, labs.judged);
    place.append(
      rows.length
        ? predict(
            'Three formulas, one data set',
            `${how_trained(rows[0], also)}Tick those that will train, then draw.${also_differ(also)}`,
            rows,
            ['post-LN: LN(x + F(x))', 'pre-LN: x + F(LN(x))', 'as printed: LN(x) + F(LN(x))'],
          )
        : (not_here('post-ln, pre-ln and norm-skip side by side') as HTMLElement),
    );
    place.append(code(kSkipChoice), code(kPreRow), evidence(data, 'S22', 'S23', 'S31', 'S39', 'S40', 'S46'));
  },
};
