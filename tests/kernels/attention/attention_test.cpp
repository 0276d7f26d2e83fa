#include "kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/attention_case.h"
#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::AttentionCase;
using test::AttentionRun;
using test::Layout;

class Attention : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Attention);

/// Forward and every gradient of the float kernel against the double reference.
void expect_matches_reference(const AttentionCase& c, double spread = 1) {
  SCOPED_TRACE(c.text());
  AttentionRun<float> got(c, 1, spread);
  AttentionRun<double> want(c, 1, spread);
  got.both();
  want.both();
  const auto tolerance = test::attention_tolerance(std::max(c.queries, c.keys), std::max(c.d_head, c.d_value));
  EXPECT_NEAR_ALL(got.o, want.o, tolerance);
  EXPECT_NEAR_ALL(got.lse, want.lse, tolerance);
  if (c.layout == Layout::packed) {
    EXPECT_NEAR_ALL(got.dqkv, want.dqkv, tolerance);
  } else {
    EXPECT_NEAR_ALL(got.dq, want.dq, tolerance);
    EXPECT_NEAR_ALL(got.dk, want.dk, tolerance);
    EXPECT_NEAR_ALL(got.dv, want.dv, tolerance);
  }
}

std::vector<std::uint8_t> random_bits(std::size_t n, std::uint64_t seed, float probability) {
  std::vector<std::uint8_t> bits(n);
  for (std::size_t i = 0; i < n; ++i) bits[i] = uniform_at(RandomKey(seed), i) < probability;
  return bits;
}

TEST_P(Attention, MatchesTheReferenceAroundTileBordersInEveryLayout) {
  for (const std::size_t length : {1u, 2u, 17u, 63u, 64u, 65u, 97u, 200u})
    for (const bool causal : {false, true})
      for (const Layout layout : {Layout::packed, Layout::separate, Layout::heads_first})
        if (length < 100 || layout == Layout::packed)
          expect_matches_reference(
              {.batch = 1, .heads = 2, .kv_heads = 1, .queries = length, .keys = length, .layout = layout, .causal = causal});
}

TEST_P(Attention, MatchesTheReferenceForOddHeadWidths) {
  for (const std::size_t width : {1u, 3u, 17u, 64u, 80u})
    for (const std::size_t value_width : {1u, 5u, 64u})
      expect_matches_reference({.batch = 1,
                                .heads = 1,
                                .kv_heads = 1,
                                .queries = 37,
                                .keys = 41,
                                .d_head = width,
                                .d_value = value_width,
                                .causal = true,
                                .offset = 4,
                                .scale = 1 / std::sqrt(double(width))});
}

TEST_P(Attention, MatchesTheReferenceForGroupedQueriesAndCrossAttention) {
  for (const std::size_t kv_heads : {1u, 2u, 3u, 6u}) {
    expect_matches_reference(
        {.heads = 6, .kv_heads = kv_heads, .queries = 9, .keys = 9, .layout = Layout::packed, .causal = true});
    expect_matches_reference({.heads = 6, .kv_heads = kv_heads, .queries = 3, .keys = 110, .d_value = 5});
    expect_matches_reference({.heads = 6, .kv_heads = kv_heads, .queries = 70, .keys = 4});
  }
}

TEST_P(Attention, MatchesTheReferenceForCausalOffsets) {
  for (const std::ptrdiff_t offset : {-100, -70, -1, 0, 1, 5, 63, 1000})
    expect_matches_reference({.batch = 1, .queries = 71, .keys = 103, .causal = true, .offset = offset});
  expect_matches_reference({.queries = 7, .keys = 12, .causal = true, .offsets = {5, -2}});
}

TEST_P(Attention, OfFewQueriesMatchesTheReferenceAsItDoesOfMany) {
  for (const std::size_t queries : {1u, 3u, 4u})
    for (const std::size_t keys : {1u, 3u, 95u, 96u, 97u, 250u})
      for (const bool causal : {false, true})
        expect_matches_reference({.heads = 4, .kv_heads = 2, .queries = queries, .keys = keys, .causal = causal, .offset = 40});
}

/// The results of the case with one causal offset are those with another, bit for bit.
template <class T>
void expect_same_with_offsets(std::ptrdiff_t one, std::ptrdiff_t other) {
  AttentionCase c{.queries = 71, .keys = 103, .causal = true};
  c.offset = one, c.offsets = {one, one};
  AttentionRun<T> first(c);
  first.both();
  for (const bool per_batch : {false, true}) {
    c.offset = other;
    c.offsets = per_batch ? std::vector{other, other} : std::vector<std::ptrdiff_t>{};
    AttentionRun<T> second(c);
    second.both();
    EXPECT_EQ(second.o, first.o);
    EXPECT_EQ(second.lse, first.lse);
    EXPECT_EQ(second.dq, first.dq);
    EXPECT_EQ(second.dk, first.dk);
    EXPECT_EQ(second.dv, first.dv);
  }
}

TEST_P(Attention, TakesTheLargestAndSmallestOffsetsForAllAndNothing) {
  constexpr std::ptrdiff_t kMost = std::numeric_limits<std::ptrdiff_t>::max(),
                           kLeast = std::numeric_limits<std::ptrdiff_t>::min();
  for (const std::ptrdiff_t most : {kMost, kMost - 70, std::ptrdiff_t{102}}) {
    expect_same_with_offsets<float>(1000, most);
    expect_same_with_offsets<double>(1000, most);
  }
  for (const std::ptrdiff_t least : {kLeast, kLeast + 70, std::ptrdiff_t{-71}}) {
    expect_same_with_offsets<float>(-1000, least);
    expect_same_with_offsets<double>(-1000, least);
  }
}

TEST_P(Attention, MatchesTheReferenceForEveryMaskAndTheirCombination) {
  AttentionCase c{.queries = 67, .keys = 130};
  const auto mask = random_bits(c.batch * c.heads * c.queries * c.keys, 3, 0.7f);
  const auto key_mask = random_bits(c.batch * c.keys, 4, 0.6f);
  auto bias = test::normal_values(c.heads * c.queries * c.keys, 5);
  for (std::size_t i = 0; i < bias.size(); i += 3) bias[i] = -std::numeric_limits<float>::infinity();
  for (unsigned which = 1; which < 32; ++which) {
    c.mask = (which & 1) != 0 ? mask : std::vector<std::uint8_t>{};
    c.key_mask = (which & 2) != 0 ? key_mask : std::vector<std::uint8_t>{};
    c.bias = (which & 4) != 0 ? bias : std::vector<float>{};
    c.lengths = (which & 8) != 0 ? std::vector<std::size_t>{97, 1000} : std::vector<std::size_t>{};
    c.causal = (which & 16) != 0;
    expect_matches_reference(c);
  }
}

TEST_P(Attention, MatchesTheReferenceWithASoftcap) {
  AttentionCase c{.queries = 20, .keys = 30, .causal = true, .offset = 10, .softcap = 1.5};
  c.bias = test::normal_values(c.heads * c.queries * c.keys, 5);
  expect_matches_reference(c, 2);
}

TEST_P(Attention, KeepsTheDigitsOfScoresThatAreSmallBesideTheSoftcap) {
  // One key: lse is the capped score itself, and q * 1 has no error of its own.
  for (const double cap : {50.0, 1000.0}) {
    AttentionCase c{.batch = 1, .heads = 1, .kv_heads = 1, .queries = 200, .keys = 1, .d_head = 1, .scale = 1, .softcap = cap};
    AttentionRun<float> run(c);
    std::vector<double> want;
    run.k[0] = 1;
    for (const float q : run.q) want.push_back(cap * std::tanh(static_cast<double>(q) / cap));
    run.forward();
    EXPECT_NEAR_ALL(run.lse, want, test::softcap_tolerance());
    c = {.queries = 20, .keys = 30, .causal = true, .offset = 10, .softcap = cap};
    expect_matches_reference(c);
  }
}

TEST_P(Attention, MatchesTheReferenceForHeadsWithoutElements) {
  expect_matches_reference({.queries = 7, .keys = 9, .d_head = 0, .causal = true});
  expect_matches_reference({.queries = 7, .keys = 9, .d_value = 0, .causal = true});
}

TEST_P(Attention, GivesZerosAndZeroGradientsToQueriesThatSeeNothing) {
  AttentionCase c{.queries = 70, .keys = 70, .causal = true, .offset = -3};
  AttentionRun<float> run(c);
  run.both();
  EXPECT_TRUE(std::all_of(run.o.begin(), run.o.begin() + 3 * 16, [](float x) { return x == 0; }));
  EXPECT_EQ(run.lse[2], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::all_of(run.dq.begin(), run.dq.begin() + 3 * 16, [](float x) { return x == 0; }));

  for (AttentionCase hidden : {AttentionCase{.lengths = {0, 0}}, AttentionCase{.mask = std::vector<std::uint8_t>(100, 0)},
                               AttentionCase{.key_mask = std::vector<std::uint8_t>(10, 0)},
                               AttentionCase{.bias = std::vector<float>(50, -std::numeric_limits<float>::infinity())}}) {
    AttentionRun<float> none(hidden);
    none.both();
    for (const auto* values : {&none.o, &none.dq, &none.dk, &none.dv})
      EXPECT_TRUE(std::all_of(values->begin(), values->end(), [](float x) { return x == 0; }));
  }
}

TEST_P(Attention, NeverReadsWhatLiesPastTheLengths) {
  AttentionCase c{.batch = 1, .queries = 4, .keys = 40, .lengths = {33}};
  AttentionRun<float> clean(c), dirty(c);
  std::fill(dirty.k.begin() + 33 * 16, dirty.k.end(), std::numeric_limits<float>::quiet_NaN());
  std::fill(dirty.v.begin() + 33 * 16, dirty.v.end(), std::numeric_limits<float>::quiet_NaN());
  clean.both();
  dirty.both();
  EXPECT_SAME_BITS(dirty.o, clean.o);
  EXPECT_SAME_BITS(dirty.dq, clean.dq);
  EXPECT_SAME_BITS(dirty.dk, clean.dk);
}

TEST_P(Attention, OfPastTokensDoesNotChangeABitWithTheFuture) {
  for (const std::size_t past : {1u, 13u, 64u, 96u, 100u}) {
    AttentionCase c{.batch = 1, .queries = 130, .keys = 130, .causal = true};
    AttentionRun<float> run(c), other(c);
    const auto future = static_cast<std::ptrdiff_t>(past * 16);
    for (auto* values : {&other.q, &other.k, &other.v})
      std::transform(values->begin() + future, values->end(), values->begin() + future, [](float x) { return 1e4f * x - 7; });
    run.forward();
    other.forward();
    EXPECT_SAME_BITS(std::span(other.o).first(past * 16), std::span(run.o).first(past * 16));
  }
}

TEST_P(Attention, StaysAccurateAtHugeLogits) {
  // Integers: the products are exact, so scores near 1e4 carry no error of their own, and softmax must add none.
  AttentionCase c{.batch = 1, .queries = 70, .keys = 70, .d_head = 2, .d_value = 3, .causal = true, .scale = 1};
  AttentionRun<float> got(c);
  AttentionRun<double> want(c);
  for (std::size_t i = 0; i < got.q.size(); ++i) {
    got.q[i] = i % 2 == 0 ? 100 : 1;
    got.k[i] = i % 2 == 0 ? (i % 8 == 0 ? -100 : 100) : static_cast<float>((i * 7) % 5);
  }
  want.q.assign(got.q.begin(), got.q.end());
  want.k.assign(got.k.begin(), got.k.end());
  got.both();
  want.both();
  EXPECT_GT(*std::max_element(want.lse.begin(), want.lse.end()), 1e4);
  const auto tolerance = test::attention_tolerance(c.keys, 1);  // exact products: no growth with the width
  EXPECT_NEAR_ALL(got.o, want.o, tolerance);
  EXPECT_NEAR_ALL(got.dv, want.dv, tolerance);
  const auto scaled = test::attention_gradient_tolerance(c.keys, 1, 100);
  EXPECT_NEAR_ALL(got.dq, want.dq, scaled);
  EXPECT_NEAR_ALL(got.dk, want.dk, scaled);
}

TEST_P(Attention, OfASingleKeyIsItsValue) {
  AttentionCase c{.batch = 1, .queries = 3, .keys = 1, .scale = 1e4};
  AttentionRun<float> run(c);
  run.both();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_SAME_BITS(std::span(run.o).subspan(i * 16, 16), run.v);
  EXPECT_NEAR_ALL(run.dq, std::vector<double>(run.dq.size(), 0), test::attention_gradient_tolerance(1, 8, c.scale));
}

TEST_P(Attention, LetsNanThrough) {
  AttentionCase c{.batch = 1, .heads = 1, .kv_heads = 1, .queries = 9, .keys = 9, .causal = true};
  AttentionRun<float> run(c);
  run.k[4 * 8] = std::numeric_limits<float>::quiet_NaN();
  run.both();
  EXPECT_TRUE(std::none_of(run.o.begin(), run.o.begin() + 4 * 8, [](float x) { return std::isnan(x); }));
  EXPECT_TRUE(std::all_of(run.o.begin() + 4 * 8, run.o.end(), [](float x) { return std::isnan(x); }));
}

TEST_P(Attention, WritesOnlyTheGradientsThatAreWanted) {
  AttentionCase c{.queries = 70, .keys = 70, .causal = true};
  AttentionRun<float> all(c);
  all.both();
  for (unsigned which = 0; which < 8; ++which) {
    AttentionRun<float> some(c);
    some.want_dq = (which & 1) != 0, some.want_dk = (which & 2) != 0, some.want_dv = (which & 4) != 0;
    some.both();
    const std::vector<float> untouched(all.dq.size(), 99.0f);
    EXPECT_SAME_BITS(some.dq, some.want_dq ? all.dq : untouched);
    EXPECT_SAME_BITS(some.dk, some.want_dk ? all.dk : untouched);
    EXPECT_SAME_BITS(some.dv, some.want_dv ? all.dv : untouched);
  }
}

TEST_P(Attention, TouchesNothingOutsideItsArrays) {
  using test::Guarded;
  const std::size_t queries = 65, keys = 67, d_head = 17, d_value = 5;
  for (const test::Edge edge : test::kEdges) {
    const Guarded<float> q(test::normal_values(queries * d_head, 1), edge), k(test::normal_values(keys * d_head, 2), edge);
    const Guarded<float> v(test::normal_values(keys * d_value, 3), edge), d_o(test::normal_values(queries * d_value, 4), edge);
    Guarded<float> o(d_o.size(), edge), dq(q.size(), edge), dk(k.size(), edge), dv(v.size(), edge);
    Guarded<double> lse(queries, edge);
    kernels::AttentionGradArgs g;
    kernels::AttentionArgs& a = g.forward;
    a.batch = a.heads = a.kv_heads = 1, a.queries = queries, a.keys = keys, a.d_head = d_head, a.d_value = d_value;
    a.q = {q.data(), 0, d_head, 0}, a.k = {k.data(), 0, d_head, 0}, a.v = {v.data(), 0, d_value, 0},
    a.o = {o.data(), 0, d_value, 0};
    a.lse = lse.data();
    Guarded<float> forward_scratch(kernels::attention_forward_scratch(a), edge),
        backward_scratch(kernels::attention_backward_scratch(a), edge);
    a.scratch = forward_scratch.data();
    kernels::attention_forward(a);
    a.scratch = backward_scratch.data();
    g.d_o = {d_o.data(), 0, d_value, 0}, g.dq = {dq.data(), 0, d_head, 0}, g.dk = {dk.data(), 0, d_head, 0};
    g.dv = {dv.data(), 0, d_value, 0};
    kernels::attention_backward(g);
    EXPECT_NE(dk.data()[keys * d_head - 1], 0.0f);
  }
}

TEST_P(Attention, GivesTheSameBitsForAnyNumberOfThreads) {
  const AttentionCase c{
      .batch = 3, .heads = 4, .kv_heads = 2, .queries = 150, .keys = 150, .layout = Layout::packed, .causal = true};
  AttentionRun<float> first(c);
  first.both();
  test::with_every_thread_count([&] {
    AttentionRun<float> run(c);
    run.both();
    EXPECT_SAME_BITS(run.o, first.o);
    EXPECT_SAME_BITS(run.dqkv, first.dqkv);
  });
}

}  // namespace
}  // namespace addnorm
