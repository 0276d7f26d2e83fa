// The multi-head branch: gradients with every option, cached decoding, what each option means.
#include "addnorm/nn/attention.h"

#include "addnorm/autograd/tape.h"
#include "support/gradients.h"
#include "support/modules.h"

namespace addnorm {
namespace {

using test::input;
using test::normal_tensor;
using test::throws_saying;

struct Named {
  const char* name;
  MultiHeadOptions options;
};
const RotaryOptions kRope{.max_positions = 16};
const std::vector<Named> kVariants{
    {"plain", {.d_model = 8, .heads = 2}},
    {"causal", {.d_model = 8, .heads = 2, .causal = true}},
    {"no_bias_grouped", {.d_model = 8, .heads = 4, .kv_heads = 2, .causal = true, .bias = false}},
    {"wide_heads", {.d_model = 6, .heads = 2, .d_head = 4}},
    {"scaled_capped", {.d_model = 8, .heads = 2, .scale = 0.7, .softcap = 3}},
    {"rotary", {.d_model = 8, .heads = 2, .kv_heads = 1, .causal = true, .rotary = kRope}},
    {"rotary_halves", {.d_model = 8, .heads = 2, .rotary = RotaryOptions{.max_positions = 16, .pairs = RotaryPairs::halves}}},
    {"rotary_partial", {.d_model = 8, .heads = 2, .rotary = RotaryOptions{.max_positions = 16, .d_rotary = 2}}},
    {"qk_norm_heads", {.d_model = 8, .heads = 2, .qk_norm = norm_named("rmsnorm"), .v_norm = true}},
    {"qk_norm_whole",
     {.d_model = 8, .heads = 4, .kv_heads = 2, .qk_norm = norm_named("layernorm"), .qk_norm_span = QkNormSpan::projection}},
    {"inner_norm", {.d_model = 8, .heads = 2, .inner_norm = norm_named("layernorm")}},
    {"gain_before", {.d_model = 8, .heads = 2, .head_gain = HeadGain::before_out}},
    {"gain_after", {.d_model = 8, .heads = 2, .head_gain = HeadGain::after_out}},
    {"cross", {.d_model = 8, .heads = 2, .d_memory = 6, .cross = true}},
    {"cross_grouped_norm", {.d_model = 8, .heads = 4, .kv_heads = 2, .cross = true, .qk_norm = norm_named("rmsnorm")}},
};

class EveryAttention : public testing::TestWithParam<Named> {
 protected:
  Attention made() const {
    Attention attention(GetParam().options);
    test::scramble(attention);
    return attention;
  }
};
INSTANTIATE_TEST_SUITE_P(Options, EveryAttention, testing::ValuesIn(kVariants),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(EveryAttention, HasTheGradientsOfFiniteDifferences) {
  Attention attention = made();
  const MultiHeadOptions& o = attention.options();
  const auto f = [&](const std::vector<Var>& in) {
    AttentionInput given{.key_lengths = {3, 2}};
    if (o.cross) given.memory = in[1];
    return attention(in[0], given, {});
  };
  std::vector<Tensor> inputs{input({2, 3, o.d_model}, 1)};
  if (o.cross) inputs.push_back(input({2, 3, o.d_memory}, 2));
  EXPECT_TRUE(test::gradients_hold(attention, f, inputs, {.directions = 3}));
}

TEST_P(EveryAttention, DecodesFromACacheWhatItComputesInOnePass) {
  const NoGrad no_grad;
  Attention attention = made();
  const MultiHeadOptions& o = attention.options();
  if (!o.cross && !o.causal) return;  // without a causal mask an earlier token sees later ones: nothing to decode
  const std::size_t tokens = 7;
  const Var x(normal_tensor({2, tokens, o.d_model}, 1)), memory(normal_tensor({2, 5, o.d_memory}, 2));
  AttentionInput whole{.memory = o.cross ? memory : Var(),
                       .key_lengths = o.cross ? std::vector<std::size_t>{5, 3} : std::vector<std::size_t>{}};
  const Tensor want = attention(x, whole, {}).value();

  AttentionCache cache = attention.cache(2, tokens);
  std::size_t done = 0;
  for (const std::size_t count : std::vector<std::size_t>{3, 1, 1, 2}) {
    const Var part = split(x, {done, count, tokens - done - count}, 1)[1];
    AttentionInput given = whole;
    given.cache = &cache;
    const Tensor got = attention(part, given, {}).value();
    const Tensor slice = split(Var(want), {done, count, tokens - done - count}, 1)[1].value();
    EXPECT_NEAR_ALL(got, slice, test::reduction_tolerance(o.d_model * 4));
    done += count;
  }
}

TEST(AttentionCache, SelectCopiesRowsForBeams) {
  const NoGrad no_grad;
  Attention attention({.d_model = 8, .heads = 2, .causal = true});
  test::scramble(attention);
  AttentionCache cache = attention.cache(2, 4);
  attention(Var(normal_tensor({2, 2, 8}, 1)), {.cache = &cache}, {});
  const Tensor before = cache.k.clone();
  const std::size_t from[] = {1, 1, 0};
  cache.select(from);
  EXPECT_EQ(cache.k.shape(), (Shape{3, 4, 8}));
  EXPECT_SAME_BITS(cache.k.values<float>().subspan(0, 16), before.values<float>().subspan(32, 16));
  EXPECT_SAME_BITS(cache.k.values<float>().subspan(64, 16), before.values<float>().subspan(0, 16));
}

TEST(Attention, GainOfZeroSilencesAHead) {
  Attention attention({.d_model = 4, .heads = 2, .bias = false, .head_gain = HeadGain::before_out});
  test::scramble(attention);
  for_each_parameter(attention, [](Parameter& p) {
    if (p.role == Role::coefficient) p.value.value() = Tensor::zeros({2});
  });
  const Tensor y = attention(Var(normal_tensor({1, 3, 4}, 1)), {}, {}).value();
  for (const float v : y.values<float>()) EXPECT_EQ(v, 0.0f);
}

TEST(Attention, PaddedKeysAreNotSeen) {
  Attention attention({.d_model = 8, .heads = 2});
  test::scramble(attention);
  Tensor x = normal_tensor({1, 4, 8}, 1);
  const Tensor before = attention(Var(x.clone()), {.key_lengths = {3}}, {}).value();
  for (std::size_t i = 24; i < 32; ++i) x.data<float>()[i] = 100;
  const Tensor after = attention(Var(x), {.key_lengths = {3}}, {}).value();
  EXPECT_SAME_BITS(after.values<float>().first(24), before.values<float>().first(24));
}

TEST(Attention, RefusesSizesThatDisagreeAndSaysWhichFieldIsWrong) {
  EXPECT_TRUE(
      throws_saying<UsageError>([] { Attention({.d_model = 10, .heads = 3}); }, {"heads is 3", "d_model is 10", "divide"}));
  EXPECT_TRUE(
      throws_saying<UsageError>([] { Attention({.d_model = 8, .heads = 4, .kv_heads = 3}); }, {"kv_heads is 3", "heads is 4"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Attention({.d_model = 8, .heads = 0}); }, {"heads is 0"}));
  EXPECT_TRUE(
      throws_saying<UsageError>([] { Attention({.d_model = 8, .heads = 2, .cross = true, .causal = true}); }, {"causal"}));
  const Attention attention({.d_model = 8, .heads = 2, .causal = true, .rotary = RotaryOptions{.max_positions = 4}});
  EXPECT_TRUE(throws_saying<UsageError>(
      [&] {
        attention(Var(normal_tensor({2, 3}, 1)), {}, {});
      },
      {"x is [2, 3]", "[batch, tokens, 8]"}));
  EXPECT_TRUE(throws_saying<UsageError>(
      [&] {
        attention(Var(normal_tensor({1, 5, 8}, 1)), {}, {});
      },
      {"position 5", "max_positions is 4"}));
  const Attention cross({.d_model = 8, .heads = 2, .cross = true});
  EXPECT_TRUE(throws_saying<UsageError>([&] { cross(Var(normal_tensor({1, 5, 8}, 1)), {}, {}); }, {"memory"}));
}

TEST(Attention, TakesTheAnglesOfAnotherLayerWhereTheyAreOfItsShape) {
  const Attention one({.d_model = 8, .heads = 2, .rotary = RotaryOptions{.max_positions = 4}});
  const Attention two({.d_model = 16, .heads = 4, .rotary = one.options().rotary});
  EXPECT_EQ(two.options().rotary->angles.cos.data<float>(), one.options().rotary->angles.cos.data<float>());
  EXPECT_TRUE(throws_saying<UsageError>([&] { Attention({.d_model = 4, .heads = 2, .rotary = one.options().rotary}); },
                                        {"rotary angles", "heads of 2"}));
}

TEST(Attention, RefusesACacheThatIsFullOrUsedWhileGradientsAreRecorded) {
  const Attention attention({.d_model = 8, .heads = 2, .causal = true});
  AttentionCache cache = attention.cache(1, 2);
  const Var x(normal_tensor({1, 3, 8}, 1));
  EXPECT_TRUE(throws_saying<UsageError>([&] { attention(x, {.cache = &cache}, {}); }, {"NoGrad"}));
  const NoGrad no_grad;
  EXPECT_TRUE(throws_saying<UsageError>([&] { attention(x, {.cache = &cache}, {}); }, {"room for 2", "3 more"}));
}

TEST(AttentionCache, RefusesWhatItHasNoRowsFor) {
  const Attention attention({.d_model = 4, .heads = 2, .causal = true});
  AttentionCache cache = attention.cache(1, 3);
  const NoGrad no_grad;
  const Var two(normal_tensor({2, 1, 4}, 1)), one(normal_tensor({1, 1, 4}, 2));
  EXPECT_TRUE(throws_saying<UsageError>([&] { attention(two, {.cache = &cache}, {}); }, {"cache is of 1", "x of 2"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { attention(one, {.first_position = 1, .cache = &cache}, {}); }, {"first_position"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { attention(one, {.key_lengths = {1}, .cache = &cache}, {}); }, {"key_lengths"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { cache.select(std::vector<std::size_t>{0, 1}); }, {"row 1", "there are 1"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { AttentionCache().select(std::vector<std::size_t>{0}); }, {"holds nothing"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Attention({.d_model = 4, .v_norm = true}); }, {"v_norm", "qk_norm"}));
}

}  // namespace
}  // namespace addnorm
