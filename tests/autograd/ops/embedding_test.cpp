// embedding, rotary, add_bias and dropout: what stands between tokens and the first block.
#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "support/gradients.h"

namespace addnorm {
namespace {

using test::input;
using test::throws_saying;

const std::vector<std::int32_t> kPositions{2, 0, 5};

TEST(EmbeddingGradients, AgreeWithDifferencesWithRepeatedIds) {
  const std::vector<std::int32_t> ids{2, 0, 2, 3};
  EXPECT_GRADIENTS([&](const auto& in) { return std::vector{embedding(in[0], ids)}; }, input({4, 3}, 1));
}

TEST(RotaryGradients, AgreeWithDifferencesForBothPairings) {
  const RotaryTables tables = rotary_tables(6, 4, 10000, DType::f64);
  for (const RotaryPairs pairs : {RotaryPairs::adjacent, RotaryPairs::halves})
    EXPECT_GRADIENTS([&](const auto& in) { return std::vector{rotary(in[0], tables, kPositions, pairs)}; }, input({3, 2, 6}, 1));
}

TEST(AddBiasGradients, AgreeWithDifferencesInBothInputs) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{add_bias(in[0], in[1])}; }, input({2, 3, 4}, 1), input({4}, 2));
}

TEST(DropoutGradients, AgreeWithDifferences) {
  const RandomKey key = RandomKey(7).with("here");
  EXPECT_GRADIENTS([&](const auto& in) { return std::vector{dropout(in[0], 0.4f, key, 3)}; }, input({5, 6}, 1));
}

TEST(DropoutOp, UsesTheSameMaskBackwardAndInBothTypes) {
  const RandomKey key(1);
  const Var x(test::normal_tensor({20, 30}, 1), true);
  const Var y = dropout(x, 0.5f, key, 9);
  backward(y, Tensor::full({20, 30}, 1.0));
  const Var wide = dropout(Var(x.value().to(DType::f64)), 0.5f, key, 9);
  for (std::size_t i = 0; i < 600; ++i) {
    EXPECT_EQ(y.data<float>()[i] == 0, x.grad().data<float>()[i] == 0) << i;
    EXPECT_EQ(y.data<float>()[i], static_cast<float>(wide.data<double>()[i])) << i;
  }
  EXPECT_TRUE(dropout(x, 0, key).value().shares_with(x.value()));
}

TEST(TokenOps, RefuseWhatTheyCannotMean) {
  const Var table(test::normal_tensor({4, 3}, 1));
  EXPECT_TRUE(throws_saying<UsageError>(
      [&] {
        embedding(table, std::vector<std::int32_t>{0, 1, 4});
      },
      {"id 2 is 4", "embedding", "rows 0 to 3"}));
  EXPECT_TRUE(throws_saying<UsageError>(
      [] {
        embedding(Var(Tensor({0, 3})), std::vector<std::int32_t>{0});
      },
      {"embedding", "1 ids", "[0, 3]", "no rows"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { embedding(table, std::vector<std::int32_t>{-1}); }, {"id 0 is -1"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { embedding(Var(Tensor({4})), {}); }, {"embedding", "[4]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { embedding(Var(), {}); }, {"embedding", "undefined"}));

  const Var x(test::normal_tensor({3, 2, 4}, 1));
  const RotaryTables tables = rotary_tables(6, 4);
  EXPECT_TRUE(throws_saying<UsageError>([&] { rotary(x, rotary_tables(5, 4), kPositions); }, {"position 2 is 5", "5 positions"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { rotary(x, rotary_tables(6, 6), kPositions); }, {"6 elements", "[3, 2, 4]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { rotary(x, tables, std::vector<std::int32_t>{0}); }, {"1 positions", "[3, 2, 4]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { rotary(x, {tables.cos, Tensor({6, 1})}, kPositions); }, {"[6, 2]", "[6, 1]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { rotary(x, rotary_tables(6, 4, 1e4, DType::f64), kPositions); }, {"float64"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { rotary_tables(6, 3); }, {"d_rotary is 3", "even"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { rotary_tables(6, 4, -1); }, {"base is -1"}));

  EXPECT_TRUE(throws_saying<UsageError>([&] { add_bias(x, Var(Tensor({3}))); }, {"add_bias", "[3]", "[3, 2, 4]"}));
  for (const float p : {-0.1f, 1.0f, std::nanf("")})
    EXPECT_TRUE(throws_saying<UsageError>([&] { dropout(x, p, RandomKey(1)); }, {"dropout: p is"}));
}

}  // namespace
}  // namespace addnorm
