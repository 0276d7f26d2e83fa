// Skip connections and the flow of the gradient.
import { line_chart, type Series } from '../charts/line_chart';
import { slider } from '../dom';
import { make_figure } from '../figure';
import * as labs from '../labs';
import { kMetrics, longest_steps, matrix_of } from '../metrics';
import { kSum, kWrite } from './code_lines';
import { code, evidence, formulas, main_rows, not_here, say, type Topic } from './topic';

/** Some metric at every place of the stream, at a step that the reader chooses. */
export function profile_figure(title: string, metric_id: string, rows: labs.Row[], note: string): HTMLElement | null {
  const metric = kMetrics.find((m) => m.id === metric_id);
  const all = rows.flatMap((row) => {
    const probes = labs.probes_of(labs.runs_of(row).find((run) => labs.probes_of(run)));
    const matrix = probes && metric && matrix_of(probes, metric);
    return matrix ? [{ row, matrix }] : [];
  });
  if (!all.length || !metric) return null;
  let record = 0;
  const steps = longest_steps(all.map((a) => a.matrix.step));
  const series = (): Series[] =>
    all.flatMap(({ row, matrix }) => {
      const at = matrix.step.indexOf(steps[record]); // a run that broke off has no such record
      if (at < 0) return [];
      return [
        {
          name: labs.name_among(row, rows),
          look: row.look,
          x: matrix.names.map((_, i) => i),
          y: matrix.names.map((_, i) => matrix.at(at, i)),
        },
      ];
    });
  const drawn = make_figure({
    title,
    note,
    controls: slider(
      'At step',
      { min: 0, max: steps.length - 1 },
      0,
      (v) => String(steps[v]),
      (v) => {
        record = v;
        drawn.redraw();
      },
    ),
    draw: (width) =>
      line_chart(
        {
          series: series(),
          x_label: 'place, from the input up',
          y_label: metric.title,
          log_y: metric.log,
          height: 320,
          describe: `${title}, by depth`,
        },
        width,
      ),
    table: () => ({
      columns: ['arrangement', 'place', metric.id],
      rows: series().flatMap((s) => s.x.map((x, i) => [s.name, x, s.y[i]])),
    }),
  });
  return drawn.element;
}

export const skip: Topic = {
  id: 'skip',
  title: 'Skip connections',
  draw(place, data) {
    place.append(
      ...say(
        'Put forty functions one after the other, and the loss has to speak through forty of them before the first one hears how to improve. Most of them make the message quieter, or louder, and either way it is soon useless.',
        'A **skip connection** is a wire around a function: what went in is added to what came out. The function, called the **branch**, no longer has to carry everything that is known so far; it only has to say what should be added. The running sum is the **residual stream**: every branch reads from it and writes to it.',
      ),
      formulas(
        ['y = x + F(x)', 'forwards'],
        ['∂L/∂x = ∂L/∂y·(I + J_F)', 'backwards: the I is the wire, J_F the way through the branch'],
      ),
      ...say(
        'The I is a matrix that changes nothing. However badly F passes the gradient on, one copy of it arrives untouched. That holds for this formula, and only as long as nothing else stands on the wire; a norm after the sum does, and the figure shows what becomes of it.',
      ),
      code(kWrite),
      code(kSum),
    );
    const figure = profile_figure(
      'How loud the loss is at each depth',
      'gradient_norm',
      main_rows(),
      'From the runs of this page. At step 1 compare plain, which has no wire, with the others; then move the slider and watch those with a norm on the wire.',
    );
    place.append(figure ?? (not_here('a lab with probes') as HTMLElement), evidence(data, 'S11', 'S12', 'S25', 'S03'));
  },
};
