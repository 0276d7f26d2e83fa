// Arithmetic of a step, counted by hand.
#include "train/model_size.h"

#include <gtest/gtest.h>

namespace addnorm {
namespace {

ModelConfig small(ModelKind kind) {
  ModelConfig c;
  c.model = kind;
  c.layers = 1;
  c.d_model = 8;
  c.heads = 2;
  c.seq_len = 32;
  c.vocab = 10;
  c.bias = false;
  return completed(c);
}

// Weights of a layer: 4 d^2 of attention and 8 d^2 of the feed-forward; the tied head is d x vocabulary.
TEST(StepFlops, AreThoseOfTheLengthsThatAreComputed) {
  const double d = 8, n = 3, s = 5, t = 7, stack = 12 * d * d, head = d * 10;
  const auto attention = [&](double queries, double keys) { return 12 * d * queries * keys; };
  EXPECT_DOUBLE_EQ(flops_per_step(small(ModelKind::lm), {3, 5}), n * (6 * s * (stack + head) + attention(s, s)));
  const double cross_kv = 2 * d * d, decoder = 16 * d * d;
  EXPECT_DOUBLE_EQ(
      flops_per_step(small(ModelKind::seq2seq), {3, 5, 7}),
      n * (6 * (s * (stack + cross_kv) + t * (decoder - cross_kv + head)) + attention(s, s) + attention(t, t) + attention(t, s)));
}

TEST(StepFlops, OfABatchGoByItsPaddedLengths) {
  const Batch batch{.sequences = 2, .ids = {1, 2, 3, 1, 0, 0}, .lengths = {3, 1}, .target_ids = {1, 2, 3, 4}};
  const StepShape shape = shape_of(batch);
  EXPECT_EQ(shape.sequences, 2u);
  EXPECT_EQ(shape.tokens, 3u);
  EXPECT_EQ(shape.target_tokens, 2u);
  EXPECT_EQ(shape_of({}).tokens, 0u);
}

}  // namespace
}  // namespace addnorm
