// The thirteen questions of the texts, in our words. The first eight had answers to tick there too; those of the others are ours.

export interface Question {
  ask: string;
  options: string[];
  right: number; // which of them
  answer: string;
  claims: string[];
  wrong?: string; // where the text's own answer does not hold
}

export const kQuestions: Question[] = [
  {
    ask: 'Which formula is a residual connection?',
    options: [
      'F(G(x)): one function after the other',
      'x + F(x): input plus sub-layer',
      'F(x) − x: sub-layer minus input',
      'LN(x) + LN(F(x)): a sum of two norms',
    ],
    right: 1,
    answer: 'Input plus sub-layer, x + F(x). The three others are some distance away from what a residual unit gives.',
    claims: ['S24'],
  },
  {
    ask: 'What do residual connections do to the gradient?',
    options: ['They add a part to it', 'They multiply it', 'Nothing', 'They make it smaller'],
    right: 0,
    answer: 'They add a part: the gradient along the skip and the one through the branch sum up to the whole, to the last bit.',
    claims: ['S25'],
  },
  {
    ask: 'The sub-layer has learned the identity. What comes out of the unit?',
    options: [
      'Nothing but zeros',
      'About x, as it went in',
      '2x from a bare sum, LN(x) from Add & Norm',
      'LN(x), with or without a norm',
    ],
    right: 2,
    answer: 'For a bare sum 2x, which the text does not offer; for Add & Norm, LN(x). To pass x on, a sub-layer must give zero.',
    claims: ['S26', 'S20'],
    wrong: 'The text says "about x".',
  },
  {
    ask: 'Around which parts of a Transformer layer do skips go?',
    options: [
      'Around attention only',
      'Around the feed-forward part only',
      'Around attention and around the feed-forward part',
      'Once, around the layer as a whole',
    ],
    right: 2,
    answer: 'Around each of them: attention and feed-forward alike.',
    claims: ['S27'],
  },
  {
    ask: 'Which problem did skips solve?',
    options: ['Overfitting', 'Vanishing gradients and degradation', 'The cost of computing', 'The need for memory'],
    right: 1,
    answer: 'Gradients and degradation. With and without skips the networks have as good as the same size, and neither overfits.',
    claims: ['S28', 'S15'],
  },
  {
    ask: 'How many skips has a layer?',
    options: ['One', 'Always two', 'Two, and three with cross-attention', 'One for each head'],
    right: 2,
    answer: 'Two, if it has attention and a feed-forward part. A decoder layer that also looks at an encoder has three.',
    claims: ['S29', 'S17'],
    wrong: 'The text knows two only.',
  },
  {
    ask: 'Which paper brought residual connections?',
    options: [
      '"Attention Is All You Need", 2017',
      '"Layer Normalization", 2016',
      '"Batch Normalization", 2015',
      '"Deep Residual Learning for Image Recognition", 2015',
    ],
    right: 3,
    answer: 'He and others, 2015, on image recognition. Gated skips (highway networks) came some months earlier.',
    claims: ['S30'],
  },
  {
    ask: 'Pre-LN or post-LN: which one norms before the sub-layer?',
    options: ['Post-LN', 'Pre-LN', 'Both', 'Neither'],
    right: 1,
    answer: 'Pre-LN. Make the stream ten times as large, and its sub-layers read the same as before.',
    claims: ['S31', 'S22'],
    wrong: 'The answer is right; the formula that the text prints for pre-LN is not pre-LN.',
  },
  {
    ask: 'Why does one use skip connections at all?',
    options: [
      'They make layers cheaper',
      'They keep deep networks from overfitting',
      'Without them deeper networks train worse, on the training data itself',
      'They keep activations at mean 0 and variance 1',
    ],
    right: 2,
    answer:
      'Because without them deeper networks train worse, on the training data itself; the skip makes "do nothing" easy to learn and gives the gradient a way past every branch.',
    claims: ['S55', 'S14', 'S58'],
  },
  {
    ask: 'Which part of y = x + F(x) is the residual?',
    options: ['F(x), what the branch adds', 'x, what the skip carries', 'y, the whole sum', 'The gradient along the skip'],
    right: 0,
    answer:
      'y = x + F(x), and the residual is F(x): what a trained branch gives points along wanted output minus input, hardly along the wanted output itself.',
    claims: ['S60'],
  },
  {
    ask: 'What distinguishes layer norm from batch norm, and why do Transformers have the first?',
    options: [
      'It learns nothing, so that it costs less',
      'It looks down the batch, so that all tokens end up alike',
      'It has no epsilon, so that it is exact',
      'It looks along the features of one token, so that the rest of the batch has no say',
    ],
    right: 3,
    answer:
      'Layer norm looks along the features of one token, batch norm down the batch. So layer norm does not care who else is in the batch, or how long the others are.',
    claims: ['S65', 'S63', 'S64'],
  },
  {
    ask: 'What are gain and bias of layer norm good for?',
    options: [
      'They can undo the norm where that is better',
      'They keep mean 0 and variance 1',
      'They keep the norm from dividing by zero',
      'They let each feature have its own scale and centre',
    ],
    right: 3,
    answer:
      "They let each feature have its own scale and centre. They cannot undo the norm: a token's own mean and size are gone.",
    claims: ['S70', 'S68', 'S69'],
    wrong: 'The text says they can undo it. That is true of batch norm.',
  },
  {
    ask: 'What does Add & Norm do?',
    options: [
      "It adds the sub-layer's output to its input, then norms the sum",
      "It norms the input, then adds the sub-layer's output",
      "It norms the sub-layer's output, then adds it to the input",
      'It adds all sub-layers up and norms once, at the end of the stack',
    ],
    right: 0,
    answer:
      "Add the sub-layer's output to its input, then norm the sum; after every sub-layer. The order matters: norm first and then add is another unit.",
    claims: ['S71', 'S72'],
  },
];
