// Deeper and worse: the degradation problem.
import { spread_bars } from '../charts/spread_bars';
import { also_differ } from '../differences';
import { figure } from '../figure';
import * as labs from '../labs';
import { known } from '../numbers';
import { with_terms } from '../terms';
import { kSum } from './code_lines';
import { predict } from './predict';
import { claim_named, code, evidence, formulas, not_here, rows_compared, say, type Topic } from './topic';

export const degradation: Topic = {
  id: 'degradation',
  title: 'Degradation',
  draw(place, data) {
    place.append(
      ...say(
        'A deeper network can do all that a shallower one can: let the extra layers pass their input on. So it should never fit its training data worse. Yet without skips it does, and not by a little. That is **degradation**. It is no overfitting: the loss is bad on the very data it is trained on. The good solution exists, and training does not find it.',
        'With skips a layer that has nothing to say can fall silent instead of standing in the way, and depth stops hurting so much. That is a statement about what training finds in these runs. It is no promise that more layers can never do harm.',
      ),
    );
    const { rows, also } = rows_compared(['plain', 'pre-ln'], labs.judged);
    place.append(
      rows.length
        ? predict(
            'With and without skips',
            also.length
              ? `Which of these will learn?${also_differ(also)}`
              : `The same ${rows[0].layers || ''} layers, the same data, the same rate. Which of these will learn?`,
            rows,
            ['plain: x′ = F(x)', 'pre-LN: x′ = x + F(LN(x))'],
          )
        : (not_here('plain and pre-ln side by side') as HTMLElement),
    );
    const claim = claim_named(data, 'S15');
    const values = (claim?.values ?? []).filter((v) => known(v.mean));
    if (values.length)
      place.append(
        figure({
          title: 'Training loss of 20 and of 56 units',
          note: with_terms(
            'Feed-forward [[units|unit]] with norms, ten classes; the whisker is the standard deviation over seeds, the loss is in [[nats]]. More layers are worse without skips, and hardly worse with them.',
          ),
          draw: (width) => spread_bars(values, width),
          table: () => ({ columns: ['network', 'training loss', 'deviation'], rows: values.map((v) => [v.name, v.mean, v.spread]) }),
        }),
      );
    place.append(
      formulas(
        ["x' = F(x)", 'without a skip every unit must carry all that is known'],
        ["x' = x + F(x)", 'with it, only what changes'],
      ),
      code(kSum),
      evidence(data, 'S15', 'S16', 'S55', 'S28', 'S58'),
    );
  },
};
