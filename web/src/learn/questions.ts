// The thirteen questions of the texts, asked in our words, each answered by something that was measured.
import type { ReportData } from '../data';
import { h } from '../dom';
import { badge } from '../parts';
import { claim_named, evidence, say, type Topic } from './topic';

interface Question {
  ask: string;
  answer: string;
  claims: string[];
  wrong?: string; // where the text's own answer does not hold
}

export const kQuestions: Question[] = [
  {
    ask: 'Which formula is a residual connection: one function after the other, input plus sub-layer, sub-layer minus input, or a sum of two norms?',
    answer: 'Input plus sub-layer, x + F(x). The three others are some distance away from what a residual unit gives.',
    claims: ['S24'],
  },
  {
    ask: 'What do residual connections do to the gradient: add to it, multiply it, nothing, or make it smaller?',
    answer: 'They add a part: the gradient along the skip and the one through the branch sum up to the whole, to the last bit.',
    claims: ['S25'],
  },
  {
    ask: 'The sub-layer has learned the identity. What comes out of the unit?',
    answer: 'For a bare sum 2x, which the text does not offer; for Add & Norm, LN(x). To pass x on, a sub-layer must give zero.',
    claims: ['S26', 'S20'],
    wrong: 'The text says "about x".',
  },
  {
    ask: 'Around which parts of a Transformer layer do skips go?',
    answer: 'Around each of them: attention and feed-forward alike.',
    claims: ['S27'],
  },
  {
    ask: 'Which problem did skips solve: overfitting, vanishing gradients with degradation, cost, or memory?',
    answer: 'Gradients and degradation. With and without skips the networks have as good as the same size, and neither overfits.',
    claims: ['S28', 'S15'],
  },
  {
    ask: 'How many skips has a layer?',
    answer: 'Two, if it has attention and a feed-forward part. A decoder layer that also looks at an encoder has three.',
    claims: ['S29', 'S17'],
    wrong: 'The text knows two only.',
  },
  {
    ask: 'Which paper brought residual connections?',
    answer: 'He and others, 2015, on image recognition. Gated skips (highway networks) came some months earlier.',
    claims: ['S30'],
  },
  {
    ask: 'Pre-LN or post-LN: which one norms before the sub-layer?',
    answer: 'Pre-LN. Make the stream ten times as large, and its sub-layers read the same as before.',
    claims: ['S31', 'S22'],
    wrong: 'The answer is right; the formula that the text prints for pre-LN is not pre-LN.',
  },
  {
    ask: 'Why does one use skip connections at all?',
    answer:
      'Because without them deeper networks train worse, on the training data itself; the skip makes "do nothing" easy to learn and gives the gradient a way past every branch.',
    claims: ['S55', 'S14', 'S58'],
  },
  {
    ask: 'Write down a residual connection. Which part of it is the residual?',
    answer:
      'y = x + F(x), and the residual is F(x): what a trained branch gives points along wanted output minus input, hardly along the wanted output itself.',
    claims: ['S60'],
  },
  {
    ask: 'What distinguishes layer norm from batch norm, and why do Transformers have the first?',
    answer:
      'Layer norm looks along the features of one token, batch norm down the batch. So layer norm does not care who else is in the batch, or how long the others are.',
    claims: ['S65', 'S63', 'S64'],
  },
  {
    ask: 'What are gain and bias of layer norm good for?',
    answer:
      "They let each feature have a scale and a centre of its own. They cannot undo the norm: a token's own mean and size are gone.",
    claims: ['S70', 'S68', 'S69'],
    wrong: 'The text says they can undo it. That is true of batch norm.',
  },
  {
    ask: 'Describe Add & Norm.',
    answer:
      "Add the sub-layer's output to its input, then norm the sum; behind every sub-layer. The order matters: norm first and then add is another unit.",
    claims: ['S71', 'S72'],
  },
];

function item(question: Question, number: number, data: ReportData): HTMLElement {
  const claim = claim_named(data, question.claims[0]);
  const body = h('div', null);
  const details = h(
    'details',
    {
      class: 'question',
      ontoggle: () => {
        if (details.open && !body.firstChild)
          body.append(
            h('p', { class: 'the-answer' }, question.answer),
            question.wrong ? h('p', { class: 'wrong' }, h('b', null, 'Where the text is wrong: '), question.wrong) : '',
            evidence(data, ...question.claims),
          );
      },
    },
    h(
      'summary',
      null,
      h('span', { class: 'claim-id' }, number),
      h('span', null, question.ask),
      question.wrong ? h('span', { class: 'badge warn' }, 'not as printed') : claim ? badge(claim.verdict, 'measured') : null,
    ),
    body,
  ) as HTMLDetailsElement;
  return details;
}

export const questions: Topic = {
  id: 'questions',
  title: 'Thirteen questions',
  draw(place, data) {
    place.append(
      ...say(
        'The texts that this project began with end in questions: eight to tick, five to answer in words. Think of an answer, then open it: what decides is a measurement.',
      ),
      h(
        'div',
        { class: 'questions' },
        kQuestions.map((q, i) => item(q, i + 1, data)),
      ),
    );
  },
};
