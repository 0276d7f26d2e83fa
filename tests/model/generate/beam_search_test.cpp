// Beam search on made-up logits, against every sequence there is, and against its definition written out.
#include <algorithm>
#include <cmath>
#include <limits>

#include "addnorm/model/generate.h"
#include "support/models/fake_decoding.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::FakeDecoding;
using test::fixed_logits;
using test::greedy;
using test::Ids;
using test::kInf;
using test::log_softmax;
using test::LogitsOf;
using test::random_logits;
using test::throws_saying;

/// Every sequence there is, of max_tokens tokens or ended before: the definition that beam search approximates.
void all_continuations(const LogitsOf& logits, const Ids& prompt, std::size_t max_tokens, std::int32_t end, double penalty,
                       const Generated& so_far, std::vector<Generated>& out) {
  Ids prefix = prompt;
  prefix.insert(prefix.end(), so_far.tokens.begin(), so_far.tokens.end());
  const std::vector<double> log_p = log_softmax(logits(prefix));
  for (std::size_t i = 0; i < log_p.size(); ++i) {
    Generated next = so_far;
    next.log_probability += log_p[i];
    const double length = static_cast<double>(so_far.tokens.size() + 1);
    next.score = next.log_probability / std::pow(length, penalty);
    next.ended = static_cast<std::int32_t>(i) == end;
    if (!next.ended) next.tokens.push_back(static_cast<std::int32_t>(i));
    if (next.ended || next.tokens.size() == max_tokens)
      out.push_back(next);
    else
      all_continuations(logits, prompt, max_tokens, end, penalty, next, out);
  }
}

std::vector<Generated> best_of_all(const LogitsOf& logits, const Ids& prompt, std::size_t max_tokens, std::int32_t end,
                                   double penalty) {
  std::vector<Generated> all;
  all_continuations(logits, prompt, max_tokens, end, penalty, {}, all);
  std::ranges::sort(
      all, [](const Generated& a, const Generated& b) { return a.score != b.score ? a.score > b.score : a.tokens < b.tokens; });
  return all;
}

TEST(BeamSearch, WideEnoughItFindsTheBestOfAllSequences) {
  const std::size_t vocabulary = 4, length = 4, all_prefixes = 256;
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (const double penalty : {-0.5, 0.0, 0.6, 1.0, 2.0}) {
      SCOPED_TRACE(concat("seed ", seed, ", length_penalty ", penalty));
      const LogitsOf logits = random_logits(vocabulary, seed);
      FakeDecoding decoding(2, 10, logits);
      const std::vector<std::vector<Generated>> got =
          beam_search(decoding, Ids{1, 2},
                      {.beams = all_prefixes, .best = 7, .length_penalty = penalty, .max_tokens = length, .end_tokens = {3}});
      for (std::size_t row = 0; row < 2; ++row) {
        const std::vector<Generated> want = best_of_all(logits, {static_cast<std::int32_t>(row + 1)}, length, 3, penalty);
        ASSERT_EQ(got[row].size(), 7u);
        for (std::size_t i = 0; i < 7; ++i) {
          EXPECT_EQ(got[row][i].tokens, want[i].tokens) << i;
          EXPECT_EQ(got[row][i].ended, want[i].ended) << i;
          EXPECT_NEAR_ALL(std::vector{got[row][i].score}, std::vector{want[i].score}, test::double_sum_tolerance());
        }
      }
    }
}

/// The definition in generate.h, run to the end with every continuation written out.
std::vector<Generated> textbook_beams(const LogitsOf& logits, const Ids& prompt, const BeamOptions& o) {
  std::vector<Generated> live(1), done;
  for (std::size_t length = 1; length <= *o.max_tokens; ++length) {
    std::vector<Generated> next;
    for (const Generated& h : live) {
      Ids prefix = prompt;
      prefix.insert(prefix.end(), h.tokens.begin(), h.tokens.end());
      const std::vector<double> log_p = log_softmax(logits(prefix));
      for (std::size_t i = 0; i < log_p.size(); ++i) {
        next.push_back(h);
        next.back().tokens.push_back(static_cast<std::int32_t>(i));
        next.back().log_probability += log_p[i];
        next.back().score = next.back().log_probability / std::pow(static_cast<double>(length), o.length_penalty);
      }
    }
    std::ranges::sort(next, [](const Generated& a, const Generated& b) { return a.log_probability > b.log_probability; });
    next.resize(std::min(next.size(), o.beams));
    live.clear();
    for (Generated& h : next) {
      h.ended = std::ranges::find(o.end_tokens, h.tokens.back()) != o.end_tokens.end();
      if (h.ended) h.tokens.pop_back();
      (h.ended ? done : live).push_back(h);
    }
  }
  done.insert(done.end(), live.begin(), live.end());
  std::ranges::sort(done, [](const Generated& a, const Generated& b) { return a.score > b.score; });
  done.resize(std::min(done.size(), o.best));
  return done;
}

TEST(BeamSearch, StoppingEarlyChangesNothing) {
  std::size_t read = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const double penalty : {-1.0, 0.0, 0.5, 1.0, 3.0}) {
      SCOPED_TRACE(concat("seed ", seed, ", length_penalty ", penalty));
      const LogitsOf logits = random_logits(6, seed);
      const BeamOptions options{.beams = 3, .best = 2, .length_penalty = penalty, .max_tokens = 8, .end_tokens = {4, 5}};
      FakeDecoding decoding(1, 10, logits);
      const std::vector<Generated> got = beam_search(decoding, Ids{1}, options).front();
      const std::vector<Generated> want = textbook_beams(logits, {1}, options);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i) {
        EXPECT_EQ(got[i].tokens, want[i].tokens) << i;
        EXPECT_EQ(got[i].ended, want[i].ended) << i;
      }
      read += decoding.tokens_read;
    }
  EXPECT_LT(read, 40u * 5u * (1 + 7 * 3));  // and it does stop early
}

/// Token 0 ends. The first step gives it `now`, and token 1 the rest; after token 1 come `waiting` certain ones, and the end.
LogitsOf ends_now_or_later(float now, std::size_t waiting) {
  return [=](const Ids& prefix) {
    if (prefix.size() == 1) return std::vector<float>{std::log(now), std::log(1 - now)};
    return prefix.size() < 2 + waiting ? std::vector<float>{-kInf, 0} : std::vector<float>{0, -kInf};
  };
}

TEST(BeamSearch, WaitsForWhatCanStillWin) {
  // log 0.1 / 20^2 is above log 0.9, though log 0.1 / 2^2 is not.
  FakeDecoding late(1, 30, ends_now_or_later(0.9f, 18));
  const BeamOptions favours_long{.beams = 2, .length_penalty = 2, .max_tokens = 20, .end_tokens = {0}};
  EXPECT_EQ(beam_search(late, Ids{0}, favours_long).front().front().tokens, Ids(19, 1));
  // log 0.8 * 2 is above log 0.2, though log 0.8 * 20 is not.
  FakeDecoding soon(1, 30, ends_now_or_later(0.2f, 0));
  const BeamOptions favours_short{.beams = 2, .length_penalty = -1, .max_tokens = 20, .end_tokens = {0}};
  EXPECT_EQ(beam_search(soon, Ids{0}, favours_short).front().front().tokens, Ids(1, 1));
  // Without a penalty nothing can pass log 0.9 any more: one step is enough.
  FakeDecoding decided(1, 30, ends_now_or_later(0.9f, 18));
  EXPECT_TRUE(beam_search(decided, Ids{0}, {.beams = 2, .length_penalty = 0, .end_tokens = {0}}).front().front().tokens.empty());
  EXPECT_EQ(decided.tokens_read, 1u);
}

TEST(BeamSearch, OneBeamIsGreedy) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    FakeDecoding a(3, 30, random_logits(7, seed)), b(3, 30, random_logits(7, seed));
    const Ids prompt{1, 2, 3};
    const auto beams = beam_search(a, prompt, {.beams = 1, .max_tokens = 20, .end_tokens = {6}});
    const std::vector<Generated> want = generate(b, prompt, greedy(20, {6}));
    for (std::size_t row = 0; row < 3; ++row) {
      ASSERT_EQ(beams[row].size(), 1u);
      EXPECT_EQ(beams[row][0].tokens, want[row].tokens);
      EXPECT_EQ(beams[row][0].ended, want[row].ended);
      EXPECT_NEAR_ALL(std::vector{beams[row][0].log_probability}, std::vector{want[row].log_probability},
                      test::double_sum_tolerance());
    }
  }
}

TEST(BeamSearch, FindsWhatGreedyMisses) {
  // After 0 comes 0.6 / 0.4; the 0.4 goes on with certainty, the 0.6 splits three ways.
  const LogitsOf garden_path = [](const Ids& prefix) {
    if (prefix.size() == 1) return std::vector<float>{-kInf, std::log(0.6f), std::log(0.4f)};
    return prefix[1] == 1 ? std::vector<float>{0, 0, 0} : std::vector<float>{0, -kInf, -kInf};
  };
  FakeDecoding a(1, 3, garden_path), b(1, 3, garden_path);
  EXPECT_EQ(generate(a, Ids{0}, greedy(2)).front().tokens, (Ids{1, 0}));
  const std::vector<Generated> found = beam_search(b, Ids{0}, {.beams = 2, .best = 2, .max_tokens = 2}).front();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].tokens, (Ids{2, 0}));
  EXPECT_EQ(found[1].tokens, (Ids{1, 0}));  // of three equals the lowest id
}

TEST(BeamSearch, EqualsComeInTheOrderOfTheirIds) {
  FakeDecoding decoding(1, 3, fixed_logits({0, 0, 0}));
  const std::vector<Generated> found = beam_search(decoding, Ids{0}, {.beams = 4, .best = 4, .max_tokens = 3}).front();
  ASSERT_EQ(found.size(), 4u);
  const std::vector<Ids> want{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {0, 1, 0}};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(found[i].tokens, want[i]);
}

TEST(BeamSearch, GivesFewerWhereThereAreNotAsMany) {
  FakeDecoding decoding(1, 3, fixed_logits({0, -kInf}));
  EXPECT_EQ(beam_search(decoding, Ids{0}, {.beams = 5, .best = 5, .max_tokens = 3}).front().size(), 1u);
}

TEST(BeamSearch, OptionsThatCannotBeAreRefusedByName) {
  const auto refused = [](const BeamOptions& options, std::initializer_list<std::string> parts) {
    FakeDecoding decoding(1, 10, random_logits(5, 1));
    return throws_saying<UsageError>([&] { beam_search(decoding, Ids{0}, options); }, parts);
  };
  EXPECT_TRUE(refused({.beams = 0}, {"beams is 0", "at least 1"}));
  EXPECT_TRUE(refused({.beams = 2, .best = 3}, {"best is 3", "beams, which is 2"}));
  EXPECT_TRUE(refused({.best = 0}, {"best is 0"}));
  EXPECT_TRUE(refused({.length_penalty = std::nan("")}, {"length_penalty is nan"}));
  EXPECT_TRUE(refused({.max_tokens = 11}, {"beam_search", "max_tokens is 11", "between 1 and 10"}));
  EXPECT_TRUE(refused({.end_tokens = {7}}, {"end_tokens has 7", "vocabulary has 5"}));
}

TEST(BeamSearch, NotANumberIsAnErrorAndNeverAToken) {
  const std::vector<std::pair<std::vector<float>, std::string>> cases{
      {{0, std::nanf("")}, "token 1 is nan"}, {{0, kInf}, "token 1 is inf"}, {{-kInf, -kInf}, "all 2 logits are -inf"}};
  for (const auto& one : cases) {
    FakeDecoding decoding(1, 100, fixed_logits(one.first));
    EXPECT_TRUE(throws_saying<NumericsError>([&] { beam_search(decoding, Ids{0}, {.max_tokens = 2}); }, {one.second, "row 0"}));
  }
}

}  // namespace
}  // namespace addnorm
