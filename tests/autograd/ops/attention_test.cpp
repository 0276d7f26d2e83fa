#include <limits>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "support/attention_case.h"
#include "support/gradients.h"

namespace addnorm {
namespace {

using test::input;
using test::normal_tensor;

std::shared_ptr<const AttentionMask> mask_of(const Shape& shape, std::uint64_t seed) {
  AttentionMask mask{shape, std::vector<std::uint8_t>(shape.elements())};
  for (std::size_t i = 0; i < mask.values.size(); ++i) mask.values[i] = uniform_at(RandomKey(seed), i) < 0.7f;
  return std::make_shared<const AttentionMask>(std::move(mask));
}

/// Gradient check of attention with batch 2, 3 queries, 5 keys, d_head 3, d_value 2.
void expect_gradients(const AttentionOptions& options) {
  const std::size_t kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  EXPECT_GRADIENTS([&](const auto& in) { return std::vector{attention(in[0], in[1], in[2], options)}; },
                   input({2, 3, options.heads * 3}, 1), input({2, 5, kv_heads * 3}, 2), input({2, 5, kv_heads * 2}, 3));
}

TEST(AttentionGradients, OfPlainCausalAndGroupedAttention) {
  expect_gradients({});
  expect_gradients({.heads = 2, .causal = true});
  expect_gradients({.heads = 4, .kv_heads = 2, .scale = 0.7, .causal = true, .causal_offset = 0});
}

TEST(AttentionGradients, OfEveryMask) {
  expect_gradients({.key_lengths = {4, 1}});
  expect_gradients({.heads = 2, .key_mask = mask_of({2, 5}, 1)});
  expect_gradients({.heads = 2, .mask = mask_of({2, 1, 3, 5}, 2)});
  expect_gradients({.heads = 2, .mask = mask_of({1, 2, 1, 5}, 3), .bias = input({1, 2, 3, 5}, 4)});
  expect_gradients({.causal = true, .causal_offset = -1, .bias = input({2, 1, 3, 5}, 5)});  // the first query sees nothing
}

TEST(AttentionGradients, OfASoftcap) { expect_gradients({.softcap = 0.8, .bias = input({1, 1, 3, 5}, 5)}); }

TEST(AttentionGradients, OfPackedProjections) {
  const AttentionOptions options{.heads = 4, .kv_heads = 2, .causal = true};
  EXPECT_GRADIENTS([&](const auto& in) { return std::vector{attention_packed(in[0], options)}; }, input({2, 4, 8 * 3}, 1));
}

TEST(AttentionGradients, OfJoinedSequences) {
  for (const bool causal : {false, true}) {
    const AttentionOptions options{.heads = 4, .kv_heads = 2, .causal = causal, .joined = {3, 1, 2}};
    EXPECT_GRADIENTS([&](const auto& in) { return std::vector{attention_packed(in[0], options)}; }, input({1, 6, 8 * 3}, 1));
    EXPECT_GRADIENTS([&](const auto& in) { return std::vector{attention(in[0], in[1], in[2], options)}; },
                     input({1, 6, 4 * 3}, 1), input({1, 6, 2 * 3}, 2), input({1, 6, 2 * 5}, 3));
  }
}

TEST(AttentionOp, OfJoinedSequencesIsThatOfEachAlone) {
  const std::vector<std::size_t> lengths{4, 70, 2, 9};
  const Var qkv(normal_tensor({1, 85, 8 * 5}, 1));
  const Var y = attention_packed(qkv, {.heads = 4, .kv_heads = 2, .causal = true, .joined = lengths});
  EXPECT_EQ(y.shape(), (Shape{1, 85, 20}));
  const std::vector<Var> parts = split(qkv, lengths, 1), joined = split(y, lengths, 1);
  for (std::size_t i = 0; i < parts.size(); ++i)
    EXPECT_SAME_BITS(joined[i].value().values<float>(),
                     attention_packed(parts[i], {.heads = 4, .kv_heads = 2, .causal = true}).value().values<float>());
}

/// Columns [from, from + width) of the last axis.
Tensor columns(const Tensor& x, std::size_t from, std::size_t width) {
  const auto [rows, total] = as_rows(x.shape());
  Tensor y(x.shape().with(2, width), x.dtype());
  for (std::size_t r = 0; r < rows; ++r) std::copy_n(x.data<float>() + r * total + from, width, y.data<float>() + r * width);
  return y;
}

TEST(AttentionOp, GivesTheSameBitsPackedAndSeparateForwardAndBackward) {
  const AttentionOptions options{.heads = 4, .kv_heads = 2, .causal = true};
  const std::size_t d = 9, tokens = 70;
  Var qkv(normal_tensor({2, tokens, 8 * d}, 1), true);
  Var q(columns(qkv.value(), 0, 4 * d), true), k(columns(qkv.value(), 4 * d, 2 * d), true),
      v(columns(qkv.value(), 6 * d, 2 * d), true);
  const Var packed = attention_packed(qkv, options), separate = attention(q, k, v, options);
  EXPECT_SAME_BITS(packed.value().values<float>(), separate.value().values<float>());
  const Tensor dy = normal_tensor(packed.shape(), 2);
  backward(packed, dy);
  backward(separate, dy);
  EXPECT_NEAR_ALL(columns(qkv.grad(), 0, 4 * d), q.grad(), test::exact());
  EXPECT_NEAR_ALL(columns(qkv.grad(), 4 * d, 2 * d), k.grad(), test::exact());
  EXPECT_NEAR_ALL(columns(qkv.grad(), 6 * d, 2 * d), v.grad(), test::exact());
}

TEST(AttentionOp, AgreesInFloatAndDouble) {
  const AttentionOptions options{.heads = 2, .causal = true, .key_lengths = {70, 33}, .key_mask = mask_of({1, 70}, 3)};
  Var x(normal_tensor({2, 70, 6 * 16}, 1), true), x64(x.value().to(DType::f64), true);
  const Var y = attention_packed(x, options), y64 = attention_packed(x64, options);
  const Tensor dy = normal_tensor(y.shape(), 2);
  backward(y, dy);
  backward(y64, dy.to(DType::f64));
  EXPECT_NEAR_ALL(y.value(), y64.value(), test::attention_tolerance(70, 16));
  EXPECT_NEAR_ALL(x.grad(), x64.grad(), test::attention_tolerance(70, 16));
}

TEST(AttentionOp, AlignsTheLastQueryWithTheLastKeyByDefault) {
  const Var q(normal_tensor({1, 2, 4}, 1)), k(normal_tensor({1, 5, 4}, 2)), v(normal_tensor({1, 5, 4}, 3));
  const Var aligned = attention(q, k, v, {.causal = true}), explicitly = attention(q, k, v, {.causal = true, .causal_offset = 3});
  const Var from_the_start = attention(q, k, v, {.causal = true, .causal_offset = 0});
  EXPECT_SAME_BITS(aligned.value().values<float>(), explicitly.value().values<float>());
  EXPECT_FALSE(test::same_bits(aligned.value().values<float>(), from_the_start.value().values<float>()));
  EXPECT_SAME_BITS(from_the_start.value().values<float>().first(4), v.value().values<float>().first(4));
}

TEST(AttentionOp, OfNoKeysIsZero) {
  const Var q(normal_tensor({1, 2, 4}, 1)), none(Tensor({1, 0, 4}));
  EXPECT_SAME_BITS(attention(q, none, none, {}).value().values<float>(), std::vector<float>(8, 0.0f));
}

template <class Body>
testing::AssertionResult refuses(Body&& body, std::initializer_list<std::string> parts) {
  return test::throws_saying<UsageError>(std::forward<Body>(body), parts);
}

TEST(AttentionOp, RejectsShapesThatDisagreeAndNamesThem) {
  const Var q(normal_tensor({2, 3, 8}, 1)), k(normal_tensor({2, 5, 8}, 2)), other(normal_tensor({1, 5, 8}, 3));
  const Var narrow(normal_tensor({2, 5, 6}, 4)), flat(normal_tensor({5, 8}, 5));
  EXPECT_TRUE(refuses([&] { attention(Var(), k, k, {}); }, {"attention", "q"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, other, {}); }, {"attention", "[2, 3, 8]", "[1, 5, 8]"}));
  EXPECT_TRUE(refuses([&] { attention(q, narrow, k, {}); }, {"attention", "[2, 5, 6]", "[2, 5, 8]"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, flat, {}); }, {"attention", "[5, 8]"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, k, {.heads = 3}); }, {"attention", "[2, 3, 8]", "3 heads"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, k, {.heads = 0}); }, {"attention", "0 heads"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, k, {.heads = 4, .kv_heads = 3}); }, {"3 kv_heads", "4 heads"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, Var(k.value().to(DType::f64)), {}); }, {"float32", "float64"}));
  EXPECT_TRUE(refuses([&] { attention_packed(q, {.heads = 3}); }, {"attention_packed", "[2, 3, 8]", "9 heads"}));
  EXPECT_TRUE(refuses([&] { attention_packed(Var(), {}); }, {"attention_packed", "qkv"}));
}

TEST(AttentionOp, RejectsBadOptionsAndSaysWhatIsAllowed) {
  const Var q(normal_tensor({2, 3, 8}, 1)), k(normal_tensor({2, 5, 8}, 2));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(refuses([&] { attention(q, k, k, {.scale = nan}); }, {"attention", "scale", "finite"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, k, {.softcap = -1}); }, {"softcap", "-1"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, k, {.key_lengths = {1}}); }, {"1 key_lengths", "batch of 2"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, k, {.key_lengths = {1, 6}}); }, {"6", "5 keys"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, k, {.key_mask = mask_of({2, 4}, 1)}); }, {"key_mask", "[2, 4]", "[2, 5]"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, k, {.mask = mask_of({2, 5}, 1)}); }, {"mask", "[2, 5]", "[2, 1, 3, 5]"}));
  EXPECT_TRUE(refuses([&] { attention(q, k, k, {.bias = normal_tensor({1, 1, 3, 1}, 1)}); }, {"bias", "[1, 1, 3, 1]"}));
  EXPECT_TRUE(refuses([&] { attention(k, k, k, {.joined = {5}}); }, {"joined", "one batch", "2"}));
  const Var one(normal_tensor({1, 5, 8}, 3));
  EXPECT_TRUE(refuses([&] { attention(one, one, one, {.joined = {3, 1}}); }, {"joined", "4 tokens", "5"}));
  EXPECT_TRUE(refuses([&] { attention(one, one, one, {.joined = {3, 3}}); }, {"joined", "3 tokens after 3 of 5"}));
  EXPECT_TRUE(refuses([&] { attention(one, one, one, {.joined = {5, 0}}); }, {"joined", "0 tokens"}));
  EXPECT_TRUE(refuses([&] { attention(one, one, one, {.key_lengths = {5}, .joined = {5}}); }, {"joined", "key_lengths"}));
  const auto wrong = std::make_shared<const AttentionMask>(AttentionMask{Shape{2, 5}, std::vector<std::uint8_t>(9)});
  EXPECT_TRUE(refuses([&] { attention(q, k, k, {.key_mask = wrong}); }, {"9 values", "[2, 5]"}));
}

}  // namespace
}  // namespace addnorm
