// Generation on made-up logits: cuts computed by hand, frequencies of draws, and the loop around them.
#include "addnorm/model/generate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/models/fake_decoding.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::FakeDecoding;
using test::fixed_logits;
using test::greedy;
using test::Ids;
using test::kInf;
using test::kNaN;
using test::log_softmax;
using test::LogitsOf;
using test::random_logits;
using test::throws_saying;

/// Logits 0, -1, -2 ... have probabilities r^i * (1 - r) / (1 - r^n) with r = 1/e.
std::vector<float> falling(std::size_t n) {
  std::vector<float> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(-static_cast<float>(i));
  return x;
}

std::vector<double> expected(std::vector<double> weights) {
  double total = 0;
  for (const double w : weights) total += w;
  for (double& w : weights) w /= total;
  return weights;
}

// ---- probabilities -------------------------------------------------------------------------------------------------------

TEST(NextToken, WithoutCutsIsTheSoftmaxOfHeatedLogits) {
  const double r = std::exp(-1.0), h = std::exp(-0.5);
  EXPECT_NEAR_ALL(next_token_probabilities(falling(3), {}), expected({1, r, r * r}), test::double_sum_tolerance());
  EXPECT_NEAR_ALL(next_token_probabilities(falling(3), {.temperature = 2}), expected({1, h, h * h}),
                  test::double_sum_tolerance());
}

TEST(NextToken, TopKKeepsTheKMostProbable) {
  const std::vector<float> x{-2, 0, -3, -1};
  const double r = std::exp(-1.0);
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.top_k = 2}), expected({0, 1, 0, r}), test::double_sum_tolerance());
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.top_k = 1}), expected({0, 1, 0, 0}), test::exact());
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.top_k = 4}), next_token_probabilities(x, {}), test::exact());
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.top_k = 400}), next_token_probabilities(x, {}), test::exact());
}

TEST(NextToken, TopPKeepsTheFewestTokensThatReachIt) {
  const std::vector<float> x{-2, 0, -3, -1};  // 0.2369 of id 3, 0.6439 of id 1, 0.0871 of id 0, 0.0321 of id 2
  const double r = std::exp(-1.0);
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.top_p = 0.64}), expected({0, 1, 0, 0}), test::exact());
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.top_p = 0.65}), expected({0, 1, 0, r}), test::double_sum_tolerance());
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.top_p = 0.96}), expected({r * r, 1, 0, r}), test::double_sum_tolerance());
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.top_p = 1e-300}), expected({0, 1, 0, 0}), test::exact());
}

TEST(NextToken, TopPOfOneKeepsTokensThatASumInDoubleCannotSee) {
  const std::vector<float> x{0, -40, -80};
  const std::vector<double> p = next_token_probabilities(x, {.top_p = 1});
  EXPECT_GT(p[1], 0);
  EXPECT_GT(p[2], 0);
  EXPECT_EQ(next_token_probabilities(x, {.top_p = 1, .seed = 2})[2], p[2]);
}

TEST(NextToken, TopPCountsWhatTopKLeft) {
  // Three of four equals: 1/3 each, so 0.6 needs two of them; of all four it would need three.
  const std::vector<float> x{5, 5, 5, 5};
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.top_k = 3, .top_p = 0.6}), expected({1, 1, 0, 0}), test::exact());
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.top_p = 0.6}), expected({1, 1, 1, 0}), test::exact());
}

TEST(NextToken, HeatComesBeforeTopP) {
  // At temperature 1 token 0 has 0.665 by itself; at 10 it has 0.367.
  EXPECT_EQ(next_token_probabilities(falling(3), {.top_p = 0.6})[1], 0);
  EXPECT_GT(next_token_probabilities(falling(3), {.temperature = 10, .top_p = 0.6})[1], 0);
}

TEST(NextToken, OfEqualTokensAtACutTheLowestIdsStay) {
  const std::vector<float> x{1, 7, 1, 7, 1};
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.top_k = 1}), expected({0, 1, 0, 0, 0}), test::exact());
  const std::vector<double> three = next_token_probabilities(x, {.top_k = 3});
  EXPECT_GT(three[0], 0);
  EXPECT_EQ(three[2] + three[4], 0);
  // Half of four equals is exactly two of them: reached, so no third.
  EXPECT_NEAR_ALL(next_token_probabilities(std::vector<float>(4, 3.0f), {.top_p = 0.5}), expected({1, 1, 0, 0}), test::exact());
}

TEST(NextToken, ATokenOfMinusInfinityNeverComes) {
  const std::vector<double> p = next_token_probabilities(std::vector<float>{-kInf, 0, -kInf}, {.temperature = 100});
  EXPECT_NEAR_ALL(p, expected({0, 1, 0}), test::exact());
}

TEST(NextToken, TheSmallestTemperatureIsGreedy) {
  const std::vector<float> x{1, 3, 3, 2.9999f};
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.temperature = 0}), expected({0, 1, 0, 0}), test::exact());
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.temperature = 1e-310}), expected({0, 1, 1, 0}), test::exact());
  EXPECT_NEAR_ALL(next_token_probabilities(x, {.temperature = 1e-310, .top_k = 1}), expected({0, 1, 0, 0}), test::exact());
}

// ---- sampling ------------------------------------------------------------------------------------------------------------

/// Pearson's statistic of counts against probabilities; tokens of probability 0 must not have come.
double chi_square(const std::vector<std::size_t>& counts, const std::vector<double>& p) {
  double n = 0, sum = 0;
  for (const std::size_t count : counts) n += static_cast<double>(count);
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0) {
      sum += std::pow(static_cast<double>(counts[i]) - n * p[i], 2) / (n * p[i]);
    } else {
      EXPECT_EQ(counts[i], 0u) << "token " << i << " is cut off";
    }
  }
  return sum;
}

/// A chi-square of `freedom` degrees is above this once in a thousand times (Wilson and Hilferty's approximation).
double one_in_a_thousand(std::size_t freedom) {
  const double k = static_cast<double>(freedom), a = 2 / (9 * k);
  return k * std::pow(1 - a + 3.09 * std::sqrt(a), 3);
}

TEST(Sampling, FrequenciesAreTheProbabilities) {
  const std::vector<float> x{-2, 0, -3, -1, 0.5f, 0.5f};
  for (const SamplingOptions& sampling : std::vector<SamplingOptions>{
           {}, {.temperature = 1.7}, {.top_k = 4}, {.top_p = 0.8}, {.temperature = 0.7, .top_k = 5, .top_p = 0.9, .seed = 12}}) {
    SCOPED_TRACE(concat("temperature ", sampling.temperature, ", top_k ", sampling.top_k, ", top_p ", sampling.top_p));
    FakeDecoding decoding(20, 1001, fixed_logits(x));
    std::vector<std::size_t> counts(x.size());
    for (const Generated& row : generate(decoding, Ids(20, 0), {.sampling = sampling, .max_tokens = 1000}))
      for (const std::int32_t token : row.tokens) ++counts[static_cast<std::size_t>(token)];
    const std::vector<double> p = next_token_probabilities(x, sampling);
    const auto possible = static_cast<std::size_t>(std::ranges::count_if(p, [](double value) { return value > 0; }));
    EXPECT_LT(chi_square(counts, p), one_in_a_thousand(possible - 1));
  }
}

TEST(Sampling, NeighboursInTimeAndInTheBatchAreIndependent) {
  FakeDecoding decoding(2, 10001, fixed_logits({0, 0}));
  const std::vector<Generated> rows = generate(decoding, Ids{0, 0}, {.max_tokens = 10000});
  std::vector<std::size_t> in_time(4), in_batch(4);
  for (std::size_t t = 0; t + 1 < 10000; t += 2) {
    ++in_time[static_cast<std::size_t>(2 * rows[0].tokens[t] + rows[0].tokens[t + 1])];
    ++in_batch[static_cast<std::size_t>(2 * rows[0].tokens[t] + rows[1].tokens[t])];
  }
  EXPECT_LT(chi_square(in_time, std::vector<double>(4, 0.25)), one_in_a_thousand(3));
  EXPECT_LT(chi_square(in_batch, std::vector<double>(4, 0.25)), one_in_a_thousand(3));
}

TEST(Sampling, ATokenDependsOnSeedRowAndStepAlone) {
  const auto tokens = [](std::size_t rows, std::uint64_t seed, Ids end_tokens = {}) {
    FakeDecoding decoding(rows, 100, random_logits(50, 3));
    return generate(decoding, Ids(rows, 7), {.sampling = {.seed = seed}, .max_tokens = 40, .end_tokens = end_tokens});
  };
  const std::vector<Generated> three = tokens(3, 5);
  EXPECT_EQ(tokens(3, 5)[2].tokens, three[2].tokens);
  EXPECT_EQ(tokens(1, 5)[0].tokens, three[0].tokens);  // however many rows there are
  EXPECT_NE(tokens(3, 6)[0].tokens, three[0].tokens);
  EXPECT_NE(three[1].tokens, three[0].tokens);

  // When a row ends and leaves the batch, the others go on as before, and it is cut where its end token came.
  const std::int32_t end = three[0].tokens[4];
  const std::vector<Generated> cut = tokens(3, 5, {end});
  for (std::size_t row = 0; row < 3; ++row) {
    const auto stop = std::ranges::find(three[row].tokens, end);
    EXPECT_EQ(cut[row].tokens, Ids(three[row].tokens.begin(), stop)) << row;
    EXPECT_EQ(cut[row].ended, stop != three[row].tokens.end()) << row;
  }
}

// ---- the loop ------------------------------------------------------------------------------------------------------------

TEST(Greedy, TakesTheMostProbableAndOfEqualsTheLowestId) {
  FakeDecoding decoding(1, 10, [](const Ids& prefix) {
    return prefix.size() == 2 ? std::vector<float>{0, 2, 2, 1} : std::vector<float>{0, 0, 0, 1};
  });
  const Generated row = generate(decoding, Ids{0, 0}, greedy(3)).front();
  EXPECT_EQ(row.tokens, (Ids{1, 3, 3}));
  EXPECT_FALSE(row.ended);
  const double want = log_softmax({0, 2, 2, 1})[1] + 2 * log_softmax({0, 0, 0, 1})[3];
  EXPECT_NEAR_ALL(std::vector{row.log_probability}, std::vector{want}, test::double_sum_tolerance());
}

TEST(Generate, EndedRowsLeaveTheBatchAndAllEndedStopsIt) {
  // Counts up from the prompt; 9 ends.
  const LogitsOf count_up = [](const Ids& prefix) {
    std::vector<float> x(12, 0.0f);
    x[static_cast<std::size_t>(prefix.back() + 1)] = 30;
    return x;
  };
  FakeDecoding decoding(3, 100, count_up);
  const std::vector<Generated> rows = generate(decoding, Ids{5, 7, 8}, greedy(50, {9, 11}));
  EXPECT_EQ(rows[0].tokens, (Ids{6, 7, 8}));
  EXPECT_EQ(rows[1].tokens, (Ids{8}));
  EXPECT_EQ(rows[2].tokens, (Ids{}));
  for (const Generated& row : rows) EXPECT_TRUE(row.ended);
  EXPECT_EQ(decoding.tokens_read, 3u + 2u + 1u + 1u);
}

TEST(Generate, TheLastTokenNeedsNoRoom) {
  FakeDecoding decoding(1, 5, random_logits(4, 1));
  EXPECT_EQ(generate(decoding, Ids{1, 2}, {}).front().tokens.size(), 4u);  // nothing said: until there is no room
  FakeDecoding full(1, 2, random_logits(4, 1));
  EXPECT_EQ(generate(full, Ids{1, 2}, greedy(1)).front().tokens.size(), 1u);
}

TEST(Generate, TokensAreHeardAtOnceAndFalseStops) {
  FakeDecoding decoding(2, 100, random_logits(9, 4));
  std::vector<std::pair<std::size_t, std::int32_t>> heard;
  GenerateOptions options = greedy(20);
  options.on_token = [&](std::size_t row, std::int32_t token) {
    heard.emplace_back(row, token);
    return heard.size() < 5;
  };
  const std::vector<Generated> rows = generate(decoding, Ids{1, 2}, options);
  ASSERT_EQ(heard.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(heard[i], (std::pair{i % 2, rows[i % 2].tokens[i / 2]}));
  EXPECT_EQ(rows[0].tokens.size(), 3u);
  EXPECT_EQ(rows[1].tokens.size(), 2u);
}

TEST(Generate, NotANumberIsAnErrorAndNeverAToken) {
  for (const double temperature : {0.0, 1.0}) {
    FakeDecoding decoding(2, 100, [](const Ids& prefix) {
      return prefix.size() == 4 && prefix.front() == 1 ? std::vector<float>{0, kNaN, 9} : std::vector<float>{0, 1, 2};
    });
    const GenerateOptions options{.sampling = {.temperature = temperature}, .max_tokens = 20};
    const auto run = [&] { generate(decoding, Ids{0, 1}, options); };
    EXPECT_TRUE(throws_saying<NumericsError>(run, {"row 1", "new token 3", "token 1 is nan"}));
  }
  for (const std::vector<float>& x : {std::vector{0.0f, kInf}, std::vector{-kInf, -kInf}}) {
    FakeDecoding one(1, 100, fixed_logits(x));
    EXPECT_TRUE(throws_saying<NumericsError>([&] { generate(one, Ids{0}, greedy(2)); }, {"inf"}));
  }
}

TEST(Generate, OptionsThatCannotBeAreRefusedByName) {
  const auto refused = [](const GenerateOptions& options, std::initializer_list<std::string> parts, Ids prompt = {0}) {
    FakeDecoding decoding(1, 10, random_logits(5, 1));
    return throws_saying<UsageError>([&] { generate(decoding, prompt, options); }, parts);
  };
  EXPECT_TRUE(refused({.sampling = {.temperature = -0.5}}, {"temperature is -0.5", "at least 0"}));
  EXPECT_TRUE(refused({.sampling = {.temperature = HUGE_VAL}}, {"temperature is inf"}));
  EXPECT_TRUE(refused({.sampling = {.temperature = std::nan("")}}, {"temperature is nan"}));
  EXPECT_TRUE(refused({.sampling = {.top_p = 0}}, {"top_p is 0", "above 0"}));
  EXPECT_TRUE(refused({.sampling = {.top_p = 1.5}}, {"top_p is 1.5", "at most 1"}));
  EXPECT_TRUE(refused({.sampling = {.top_p = std::nan("")}}, {"top_p is nan"}));
  EXPECT_TRUE(refused({.max_tokens = 0}, {"max_tokens is 0", "between 1 and 10"}));
  EXPECT_TRUE(refused({.max_tokens = 11}, {"max_tokens is 11", "between 1 and 10", "room for 10"}));
  EXPECT_TRUE(refused({.end_tokens = {-1}}, {"end_tokens has -1"}));
  EXPECT_TRUE(refused({.end_tokens = {5}}, {"end_tokens has 5", "vocabulary has 5"}));
  EXPECT_TRUE(refused({}, {"prompt has 0 tokens"}, {}));
  EXPECT_TRUE(refused({}, {"prompt has 11 tokens", "room for 10"}, Ids(11, 0)));
  FakeDecoding two(2, 10, random_logits(5, 1));
  EXPECT_TRUE(throws_saying<UsageError>([&] { generate(two, Ids{1, 2, 3}); }, {"3 tokens", "2 rows"}));
}

}  // namespace
}  // namespace addnorm
