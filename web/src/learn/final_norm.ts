// The final norm, which pre-LN needs and post-LN has already.
import { line_chart, type Series } from '../charts/line_chart';
import { figure } from '../figure';
import * as labs from '../labs';
import { known } from '../numbers';
import { unpack } from '../packed';
import { kClose } from './code_lines';
import { code, evidence, formulas, main_rows, not_here, say, type Topic } from './topic';

export const final_norm: Topic = {
  id: 'final-norm',
  title: 'The final norm',
  draw(place, data) {
    place.append(
      ...say(
        'In pre-LN nothing divides the stream: what [[units|unit]] add piles up. At the top it is as large as all branches together, and how large that is depends on the depth and on how long it was trained. So **one more norm** stands after the last layer, before the head reads the stream. Post-LN ends with a norm anyway.',
        'It is easy to leave out of a drawing, and many leave it out. The diagrams of this page draw it, because they are made from the rows that are computed with.',
      ),
      formulas(['y = LN(x_0 + F_1 + F_2 + … + F_n)', 'pre-LN: one norm over the whole sum']),
    );
    const rows = main_rows().filter((row) => row.arrangement !== 'plain'); // without skips nothing piles up
    const series = rows.flatMap((row): Series[] => {
      const probes = labs.probes_of(labs.runs_of(row).find((run) => labs.probes_of(run)));
      if (!probes) return [];
      const places = probes.units.length + 1,
        rms = unpack(probes.stream_rms);
      return rms.length
        ? [
            {
              name: labs.name_among(row, rows),
              look: row.look,
              x: probes.step,
              y: probes.step.map((_, c) => (Number.isFinite(rms[(c + 1) * places - 1]) ? rms[(c + 1) * places - 1] : null)),
            },
          ]
        : [];
    });
    place.append(
      series.length
        ? figure({
            title: 'Size of the stream at the top, before the exit',
            note: 'From the runs of this page that have skips. Where the line moves, the head would read vectors whose size keeps changing; the final norm takes that away.',
            draw: (width) =>
              line_chart(
                {
                  series,
                  x_label: 'step',
                  y_label: 'stream RMS after the last unit',
                  y_domain: [0, 1.05 * Math.max(1, ...series.flatMap((s) => s.y).filter(known))],
                  height: 320,
                  describe: 'RMS of the stream after the last unit against step',
                },
                width,
              ),
            table: () => ({
              columns: ['arrangement', 'step', 'RMS'],
              rows: series.flatMap((s) => s.x.map((x, i) => [s.name, x, s.y[i]])),
            }),
          })
        : (not_here('a lab with probes') as HTMLElement),
      code(kClose),
      evidence(data, 'S41', 'S73'),
    );
  },
};
