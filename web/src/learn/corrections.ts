// Where the texts are wrong, or loose, and what was measured instead.
import { h } from '../dom';
import { badge, claim_link } from '../parts';
import { claim_named, say, type Topic } from './topic';

export const kCorrections: { said: string; right: string; claim: string }[] = [
  {
    said: 'Pre-LN is LN(x) + F(LN(x)).',
    right: 'Pre-LN is x + F(LN(x)), with a norm at the exit. The printed form is post-LN, one norm later.',
    claim: 'S22',
  },
  {
    said: 'The gradient of the printed LN(x + F(x)) is multiplied by 1 + F′.',
    right: "That holds for x + F(x). With a norm after the sum, the norm's own derivative stands in front, and the 1 is not kept.",
    claim: 'S11',
  },
  {
    said: 'A sub-layer that learns the identity leaves its input as it is.',
    right: 'It gives 2x, or LN(x) where a norm follows. Only a zero branch leaves x.',
    claim: 'S20',
  },
  {
    said: 'Residual connections do not change the function that is computed.',
    right: 'They do: with the same weights the outputs differ by more than their own length.',
    claim: 'S19',
  },
  { said: 'A Transformer layer has two residual connections.', right: 'Three, where it has cross-attention.', claim: 'S17' },
  {
    said: 'Layer norm divides by the root of the variance.',
    right: 'Plus epsilon under the root; without it a constant vector is 0 / 0.',
    claim: 'S36',
  },
  { said: 'The mean that layer norm subtracts is a vector.', right: 'It is one number per token.', claim: 'S37' },
  {
    said: 'Gain and bias are set so that mean 0 and variance 1 are kept.',
    right: 'They start at 1 and 0, and are learned.',
    claim: 'S38',
  },
  { said: 'In warm-up the rate is decreased at first.', right: 'It begins near 0 and rises.', claim: 'S44' },
  {
    said: "The root of post-LN's failures are vanishing or exploding gradients.",
    right: 'Before the first step they do neither. They vanish once the first updates have made all tokens alike: a consequence.',
    claim: 'S47',
  },
  {
    said: 'Post-LN depends more on the residual stream.',
    right: 'It depends more on the branch: the newest one is half of the sum.',
    claim: 'S48',
  },
  {
    said: 'Epsilon is something like 0.01.',
    right: "Then the output's variance is v / (v + 0.01): half of what it should be for a deviation of 0.1.",
    claim: 'S67',
  },
  {
    said: 'Gain and bias can undo layer norm.',
    right: "They cannot: a token's mean and size are lost. It is true of batch norm.",
    claim: 'S70',
  },
  {
    said: 'A further layer can at worst do no harm.',
    right: 'Said of what can be expressed it is true; what training finds does get worse.',
    claim: 'S58',
  },
];

export const corrections: Topic = {
  id: 'corrections',
  title: 'Where texts are wrong',
  draw(place, data) {
    place.append(
      ...say(
        'Texts that teach the subject well still print a wrong formula here and an inverted sentence there. These are the ones that we found in four of them, in our words, with the measurement that decides.',
      ),
      h(
        'ul',
        { class: 'corrections' },
        kCorrections.map((c) => {
          const claim = claim_named(data, c.claim);
          return h(
            'li',
            null,
            h('p', { class: 'said' }, '“', c.said, '”'),
            h('p', null, h('b', null, c.right)),
            claim
              ? h(
                  'p',
                  { class: 'quiet' },
                  h('a', { href: claim_link(c.claim) }, c.claim),
                  ' ',
                  badge(claim.verdict),
                  ' ',
                  claim.measured ?? '',
                )
              : null,
          );
        }),
      ),
    );
  },
};
