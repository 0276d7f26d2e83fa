// Words, in alphabetical order.
import { clear, h } from '../dom';
import { say, type Topic } from './topic';

export const kWords: [string, string][] = [
  ['Add & Norm', 'The unit of the first Transformer: add the branch to the stream, norm the sum. Post-LN.'],
  ['arrangement', 'Where the add and the norms stand: what a unit reads, what it writes, what begins and ends the stack.'],
  ['attention entropy', 'How evenly attention is spread over the visible tokens: 1 evenly, 0 on one.'],
  ['batch norm', 'A norm whose statistics run over the batch, feature by feature.'],
  ['bigram loss', 'The loss of one who knows only which token follows which. Below it, a model uses more of the context.'],
  ['branch', 'The way through a sub-layer, beside the skip; also F. Attention and feed-forward parts are branches.'],
  ['degradation', 'Deeper networks that fit even their training data worse.'],
  ['dependency', 'What share of the stream at some place came from which branch.'],
  ['epsilon', 'A small number under the root of a norm, so that a constant vector is not divided by zero.'],
  ['exploding gradient', 'A gradient that grows from layer to layer on its way down.'],
  [
    'final norm',
    'The norm behind the last layer, which pre-LN needs because nothing else divides its stream: what units add piles up.',
  ],
  ['floor', 'The exact entropy of the data: no model can have a lower loss. Known for the built-in language only.'],
  ['gain and bias', 'The learned γ and β of a norm, one number per feature, at first 1 and 0.'],
  ['identity mapping', 'Giving back what came in. With a skip, a silent branch is enough.'],
  ['internal covariate shift', 'Layers below change, so that the layer above reads numbers of another distribution than before.'],
  ['layer norm', 'A norm whose statistics run over the features of one token.'],
  ['logit lens', 'Reading the stream off in the middle of the stack with the head that belongs to its end.'],
  ['norm-skip', 'LN(x) + F(LN(x)): branch and skip both start from the normed stream. Printed as pre-LN, and is post-LN.'],
  ['place', 'A point of the stream where something is measured: the input of the stack, and behind every unit.'],
  ['post-LN', 'LN(x + F(x)): the norm stands behind the sum, on the stream.'],
  ['pre-LN', 'x + F(LN(x)): the norm stands before the branch, beside the stream.'],
  ['preflight', 'A look at a model and some twenty steps of training, to say whether the whole run will train.'],
  ['residual', 'What a branch adds: the difference between what should go out and what came in.'],
  ['residual connection', 'x + F(x): the input of a sub-layer added to its output. Also skip connection, shortcut.'],
  ['residual learning', 'Learning what to add to the input, instead of the output as a whole.'],
  ['residual stream', 'The running sum that passes all layers. Branches read from it and write to it.'],
  ['RMS', 'Root of the mean of squares: the size of a typical number of a vector.'],
  ['seed', 'Where the random numbers of a run begin. The same seed gives the same bits.'],
  ['skip', "The way around a branch, from a unit's input to the sum."],
  ['skip gain', "How much of a stack's input is left at its output, if one follows the skips alone."],
  ['spread', 'What still differs between tokens, as a share of their size. 0: all tokens are one vector.'],
  ['sub-layer', 'A part of a layer with a residual connection of its own: attention, cross-attention, feed-forward.'],
  ['unigram loss', 'The loss of one who knows only how frequent each token is. Models that fail end here.'],
  ['unit', 'A sub-layer with its skip and its norms.'],
  ['update-to-stream ratio', 'The size of what a branch adds over the size of the stream it is added to.'],
  ['vanishing gradient', 'A gradient that shrinks from layer to layer on its way down, until the lower ones learn nothing.'],
  ['warm-up', 'Some steps at the beginning over which the learning rate rises from about zero to its full height.'],
];

export const glossary: Topic = {
  id: 'glossary',
  title: 'Glossary',
  draw(place) {
    const list = h('dl', { class: 'glossary' });
    const fill = (word: string): void => {
      clear(list);
      for (const [term, meaning] of kWords)
        if (!word || `${term} ${meaning}`.toLowerCase().includes(word))
          list.append(h('div', null, h('dt', null, term), h('dd', null, meaning)));
    };
    const find = h('input', {
      type: 'search',
      placeholder: 'find a word',
      'aria-label': 'Find a word of the glossary',
      oninput: () => fill(find.value.trim().toLowerCase()),
    }) as HTMLInputElement;
    place.append(...say('What the words of this page mean.'), h('div', { class: 'controls' }, find), list);
    fill('');
  },
};
