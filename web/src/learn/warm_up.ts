// Warm-up: a small learning rate first.
import { line_chart, type Series } from '../charts/line_chart';
import { between } from '../differences';
import { figure } from '../figure';
import * as labs from '../labs';
import { look_of } from '../palette';
import { kWarmUp } from './code_lines';
import { predict } from './predict';
import { code, evidence, formulas, not_here, say, type Topic } from './topic';

/** A row and the same with warm-up, both with a verdict. */
function pair(name: string): labs.Row[] {
  for (const table of labs.all()) {
    const own = table.rows.filter((r) => r.arrangement === name && labs.judged(r));
    for (const cold of own.filter((r) => !(r.warmup > 0))) {
      const warm = own.find((r) => r.warmup > 0 && between(cold, r).join() === 'warmup_steps');
      if (warm) return [cold, warm];
    }
  }
  return [];
}

export const warm_up: Topic = {
  id: 'warm-up',
  title: 'Warm-up',
  draw(place, data) {
    place.append(
      ...say(
        'The first updates of a post-LN stack do the damage, where its branches start as strong as from Xavier\'s weights. Until then the gradient reaches every layer. But all tokens are pushed in the same direction at the top and become alike (their [[spread]] falls to nothing), and after that no gradient says anything useful to the layers below. Some arrangements recover from that; a deep post-LN stack mostly does not. Weaker branches are another way out: from GPT-2\'s weights, which are smaller and whose output matrices shrink with depth, the same stack may train without warm-up.',
        '**Warm-up** begins with a learning rate near zero and raises it, step by step, to its full height; afterwards it may fall again. A text has it the other way round, with a rate that is decreased at first: that is the part after the warm-up. Pre-LN does without, from the same weights, at the same rate and depth.',
      ),
      formulas(['lr_t = lr·t/T', 'for the first T steps']),
    );
    const two = pair('post-ln');
    if (two.length) {
      const series = two.flatMap((row, k): Series[] => {
        const run = labs.runs_of(row).find((r) => r.rate_curve?.length);
        return run?.curve
          ? [
              {
                name: k ? `warm-up of ${row.warmup}` : 'no warm-up',
                look: { ...look_of('post-ln'), colour: k ? 'var(--c2)' : 'var(--c1)', dash: k ? '' : '6 3' },
                x: run.curve.step,
                y: run.rate_curve ?? [],
              },
            ]
          : [];
      });
      if (series.length)
        place.append(
          figure({
            title: 'The learning rate as it was',
            draw: (width) =>
              line_chart(
                {
                  series,
                  x_label: 'step',
                  y_label: 'learning rate',
                  height: 220,
                  describe: 'Learning rate against step, with and without warm-up',
                },
                width,
              ),
            table: () => ({
              columns: ['schedule', 'step', 'rate'],
              rows: series.flatMap((s) => s.x.map((x, i) => [s.name, x, s.y[i]])),
            }),
          }),
        );
      const shown = two.map((row, k) => ({
        ...row,
        look: { ...row.look, colour: k ? 'var(--c2)' : 'var(--c1)', dash: k ? '' : '6 3', mark: k ? 2 : 1 },
      }));
      place.append(
        predict(
          'Post-LN with and without warm-up',
          `Post-LN, ${two[0].layers} layers, everything the same but for the first ${two[1].warmup} steps. Which will train?`,
          shown,
          ['full rate from the first step', `${two[1].warmup} steps of warm-up`],
        ),
      );
    } else place.append(not_here('post-ln with and without warm-up') as HTMLElement);
    place.append(code(kWarmUp), evidence(data, 'S43', 'S44', 'S45', 'S47', 'S50'));
  },
};
