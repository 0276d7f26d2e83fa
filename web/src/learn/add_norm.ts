// Add & Norm: the unit of the first Transformer.
import { diagram_of, draw_diagram } from '../charts/diagram';
import { figure } from '../figure';
import * as labs from '../labs';
import { kAddNorm } from './code_lines';
import { profile_figure } from './skip';
import { code, evidence, formulas, main_rows, say, type Topic } from './topic';

export const add_norm: Topic = {
  id: 'add-norm',
  title: 'Add & Norm',
  draw(place, data) {
    place.append(
      ...say(
        'The Transformer of 2017 puts the two together, once after attention and once after the feed-forward part: **add** the output of the sub-layer to its input, then **norm** the sum. A layer with cross-attention has a third.',
        'Each [[unit]] begins with a vector of known size, at any depth. The price is on the wire: the norm stands on the stream itself, and divides everything that comes along by the size of the sum. If branch and stream are equally strong, half of the variance of the old is lost at every unit, and the gradient that comes back along the skip shrinks by √2: the [[skip gain]] of a deep stack is tiny.',
        'That is not to say that no gradient arrives. At the first step the branches carry it, and the bottom of a deep stack hears the loss as well as the top does. In a deep stack that starts from Xavier\'s weights they no longer do after some twenty steps at full rate: all tokens have become alike, and hardly anything is left of their [[spread]]. How strong the branches start decides over it as much as the placement does.',
      ),
      formulas(
        ["x' = LN(x + F(x))", 'add, then norm'],
        ["∂L/∂x = ∂L/∂x'·J_LN·(I + J_F)", 'the norm stands before the sum: the "1 +" no longer arrives as it was'],
      ),
    );
    const graph = diagram_of(labs.entry_of('post-ln'));
    if (graph)
      place.append(
        figure({
          title: 'Add & Norm, twice a layer',
          class: 'diagram-figure',
          note: 'The thick line is the residual stream. Both norms stand on it.',
          draw: (width) => draw_diagram('post-ln', graph, Math.min(width, 460)),
          table: () => ({ columns: ['from', 'to', 'kind'], rows: graph.edges.map((e) => [e.from, e.to, e.kind]) }),
        }),
      );
    const drawn = profile_figure(
      'Size of the stream by depth',
      'stream_rms',
      main_rows(),
      'From the runs of this page. With a norm after every sum the stream has size 1 at every depth. Without one it keeps the size of the embeddings at first and grows in training (move the slider); without norm and skip it dies away.',
    );
    if (drawn) place.append(drawn);
    place.append(code(kAddNorm), evidence(data, 'S71', 'S17', 'S72', 'S10'));
  },
};
