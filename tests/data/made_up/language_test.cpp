// The built-in language: what it has and has not, its probabilities by counting, its entropies by long runs.
#include "addnorm/data/language.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <sstream>

#include "data/made_up/grammar.h"
#include "support/folder.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::throws_saying;
using Ids = std::vector<std::int32_t>;

/// Means of independent draws stand within so many standard errors of what they estimate: 5 fail once in two million.
constexpr double standard_errors() { return 5; }
/// Figures computed by another program and printed with six digits.
constexpr double six_digits() { return 1e-6; }
/// Probabilities of at most 12 words, rounded once each.
constexpr double sum_tolerance() { return 1e-14; }

/// "a dog sees some cats ." word by word.
Ids ids(const Language& language, const std::string& text) {
  std::istringstream in(text);
  Ids found;
  for (std::string word; in >> word;) {
    const auto at = std::ranges::find(language.words(), word);
    EXPECT_NE(at, language.words().end()) << word;
    found.push_back(static_cast<std::int32_t>(at - language.words().begin()));
  }
  return found;
}

std::string first_impossible(const Language& language, const std::string& text) {
  const Ids all = ids(language, text);
  const std::size_t length = language.possible(all);
  return length == all.size() ? "" : language.words()[static_cast<std::size_t>(all[length])];
}

TEST(Language, HasTheEntropiesThatAnotherProgramComputed) {
  const Language language;
  EXPECT_EQ(language.vocabulary(), 43u);
  EXPECT_EQ(language.states(), 114u);
  struct Want {
    std::size_t seq_len;
    double floor, unigram, bigram;
  };
  for (const Want& want :
       {Want{1, 2.144083, 2.663943, 2.144083}, Want{64, 1.799218, 3.386914, 2.143016}, Want{256, 1.792990, 3.381537, 2.141600}}) {
    const Baselines got = language.baselines(want.seq_len);
    EXPECT_NEAR(got.floor, want.floor, six_digits());
    EXPECT_NEAR(got.unigram, want.unigram, six_digits());
    EXPECT_NEAR(got.bigram, want.bigram, six_digits());
    EXPECT_DOUBLE_EQ(got.uniform, std::log(43.0));
  }
}

TEST(Language, FloorIsTheMeanLossOfAModelThatKnowsTheGrammar) {
  const Language language;
  const std::size_t seq_len = 64, samples = 20000;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const Ids text = language.sample(7, i, seq_len + 1);
    const double loss =
        -(language.log_probability(text) - language.log_probability(std::span(text).first(1))) / static_cast<double>(seq_len);
    sum += loss;
    squares += loss * loss;
  }
  const double n = static_cast<double>(samples), mean = sum / n, error = std::sqrt((squares / n - mean * mean) / n);
  EXPECT_LT(error, 0.001);
  EXPECT_NEAR(mean, language.baselines(seq_len).floor, standard_errors() * error);
}

TEST(Language, UnigramAndBigramAreThoseOfLongRuns) {
  const Language language;
  const Batch batch = language.dataset(64, 3)->batch(0, 20000);
  std::map<std::int32_t, double> words, befores;
  std::map<std::pair<std::int32_t, std::int32_t>, double> pairs;
  const double share = 1 / static_cast<double>(batch.labels.size());
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    words[batch.labels[i]] += share;
    befores[batch.ids[i]] += share;
    pairs[{batch.ids[i], batch.labels[i]}] += share;
  }
  const auto entropy = [](const auto& counts) {
    double sum = 0;
    for (const auto& [key, p] : counts) sum -= p * std::log(p);
    return sum;
  };
  // 1.3 million words in clusters of 64: a deviation of less than 0.001 each.
  const double allowed = standard_errors() * 0.001;
  const Baselines exact = language.baselines(64);
  EXPECT_NEAR(entropy(words), exact.unigram, allowed);
  EXPECT_NEAR(entropy(pairs) - entropy(befores), exact.bigram, allowed);
  EXPECT_GT(exact.bigram - exact.floor, 0.25);  // what only more than one word of context can give
  EXPECT_GT(exact.unigram - exact.bigram, 1.0);
}

TEST(Language, ProbabilitiesAddUpToOneInEveryState) {
  const Language language;
  std::set<std::uint32_t> seen{language.state({})};
  std::deque<Ids> prefixes{{}};
  for (; !prefixes.empty(); prefixes.pop_front()) {
    const Ids& prefix = prefixes.front();
    const std::vector<double> p = language.next(prefix);
    double sum = 0;
    for (std::size_t word = 0; word < p.size(); ++word) {
      EXPECT_GE(p[word], 0);
      sum += p[word];
      if (p[word] == 0) continue;
      Ids longer = prefix;
      longer.push_back(static_cast<std::int32_t>(word));
      if (seen.insert(language.state(longer)).second) prefixes.push_back(std::move(longer));
    }
    EXPECT_NEAR(sum, 1, sum_tolerance()) << language.text(prefix);
  }
  EXPECT_EQ(seen.size(), language.states());
}

TEST(Language, WordsFollowAsOftenAsTheirProbabilitySays) {
  const Language language;
  const std::size_t samples = 300000;
  for (const std::string prefix : {"", "a dog", "a dog that", "some dogs that see a cat", "these", "a dog sees a cat"}) {
    const Ids before = ids(language, prefix);
    const std::vector<double> p = language.next(before);
    std::vector<double> counts(language.vocabulary());
    double all = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      const Ids text = language.sample(11, i, before.size() + 1);
      if (!std::equal(before.begin(), before.end(), text.begin())) continue;
      ++all;
      ++counts[static_cast<std::size_t>(text.back())];
    }
    ASSERT_GT(all, 100) << prefix;
    for (std::size_t word = 0; word < p.size(); ++word)
      EXPECT_NEAR(counts[word] / all, p[word], standard_errors() * std::sqrt(p[word] * (1 - p[word]) / all))
          << prefix << " " << language.words()[word];
  }
}

TEST(Language, VerbsAgreeAcrossTwoNestedClauses) {
  const Language language;
  // Beside each other, and with both kinds of clause between.
  EXPECT_EQ(first_impossible(language, "a dog sees some old grey cats today . these birds hear a child ."), "");
  EXPECT_EQ(first_impossible(language, "a dog that sees some cats that hear these birds likes a horse ."), "");
  EXPECT_EQ(first_impossible(language, "a dog that sees some cats that hear these birds like a horse ."), "like");
  EXPECT_EQ(first_impossible(language, "these dogs that a cat that some birds hear follows see a horse ."), "");
  EXPECT_EQ(first_impossible(language, "these dogs that a cat that some birds hear follow see a horse ."), "follow");
  EXPECT_EQ(first_impossible(language, "these dogs that a cat that some birds hear follows sees a horse ."), "sees");
  // Determiner and noun, with adjectives between; nothing but a noun phrase begins; no third clause inside two.
  EXPECT_EQ(first_impossible(language, "these small wild dog"), "dog");
  EXPECT_EQ(first_impossible(language, "dog sees"), "dog");
  EXPECT_EQ(first_impossible(language, "a dog sees a cat that likes a bird that likes a horse that"), "that");
}

TEST(Language, TextIsAFunctionOfSeedAndIndex) {
  const Language language, same;
  EXPECT_EQ(language.sample(5, 9, 100), same.sample(5, 9, 100));
  const Ids longer = language.sample(5, 9, 100), shorter = language.sample(5, 9, 30);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
  EXPECT_NE(language.sample(5, 9, 100), language.sample(6, 9, 100));
  EXPECT_NE(language.sample(5, 9, 100), language.sample(5, 10, 100));
  EXPECT_NE(language.sample(5, 9, 100), language.sample(5, 9 + (1ull << 32), 100));
  // Runs are resumed by later versions too: the text of a seed never changes.
  EXPECT_EQ(language.text(language.sample(1, 0, 24)),
            "some cats follow these dogs today. many grey old quiet dogs that this small small dog sees see every bird. a cat");
}

TEST(Language, BatchesAreTheSameHoweverTheyAreSplit) {
  const auto data = Language().dataset(16, 2);
  EXPECT_EQ(data->size(), 0u);
  const Batch whole = data->batch(100, 6), front = data->batch(100, 2), back = data->batch(102, 4);
  Ids joined = front.ids, labels = front.labels;
  joined.insert(joined.end(), back.ids.begin(), back.ids.end());
  labels.insert(labels.end(), back.labels.begin(), back.labels.end());
  EXPECT_EQ(whole.ids, joined);
  EXPECT_EQ(whole.labels, labels);
  EXPECT_EQ(whole.first, 100u);
  EXPECT_EQ(whole.sequences, 6u);
  EXPECT_EQ(whole.counted(), 96u);
  const Ids text = Language().sample(2, 103, 17);
  EXPECT_TRUE(std::equal(text.begin(), text.end() - 1, whole.ids.begin() + 48));
  EXPECT_TRUE(std::equal(text.begin() + 1, text.end(), whole.labels.begin() + 48));
}

TEST(Language, TokenizerReadsAndWritesItsText) {
  const Language language;
  const auto tokenizer = language.tokenizer({.mask = true});
  const Ids text = language.sample(1, 0, 24);
  EXPECT_EQ(tokenizer->encode(language.text(text)), text);
  EXPECT_EQ(tokenizer->encode(" a dog\nsees every\tcat ."), ids(language, "a dog sees every cat ."));
  EXPECT_EQ(tokenizer->decode(ids(language, "a dog sees every cat .")), " a dog sees every cat.");
  EXPECT_EQ(tokenizer->vocabulary(), 44u);
  EXPECT_EQ(tokenizer->special().mask, 43);
  EXPECT_FALSE(tokenizer->special().unknown.has_value());
  EXPECT_TRUE(throws_saying<DataError>([&] { tokenizer->encode("a wolf sees"); }, {"byte 2"}));
  EXPECT_EQ(language.tokenizer()->vocabulary(), 43u);
  // Written and read again it gives the same ids.
  const test::TemporaryFolder folder;
  const auto again = read_tokenizer(folder.write("tokenizer.json", tokenizer->to_json()));
  EXPECT_EQ(again->encode(language.text(text)), text);
  EXPECT_EQ(again->decode(text), tokenizer->decode(text));
  EXPECT_EQ(again->special().mask, 43);
}

TEST(Language, RefusesWhatItDoesNotHaveAndSaysWhere) {
  const Language language;
  const Ids broken = ids(language, "a dog see");
  EXPECT_TRUE(throws_saying<UsageError>([&] { language.next(broken); }, {"'see'", "word 2", "'a dog'"}));
  EXPECT_EQ(language.log_probability(broken), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(throws_saying<UsageError>([&] { language.next(Ids{43}); }, {"43", "0 ... 42"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { language.text(Ids{-1}); }, {"-1", "0 ... 42"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { language.dataset(0, 1); }, {"seq_len is 0"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { language.baselines(0); }, {"seq_len is 0"}));
}

TEST(Grammar, RefusesRulesThatDoNotDetermineTheState) {
  const auto made = [](std::vector<Rule> rules) { return [rules] { Grammar({"a", "b"}, rules, "S"); }; };
  EXPECT_TRUE(throws_saying<UsageError>(made({{"S", 0.5, {"a", "S"}}, {"S", 0.5, {"a", "b", "S"}}}), {"two rules", "'a'"}));
  EXPECT_TRUE(throws_saying<UsageError>(made({{"S", 0.5, {"a", "S"}}, {"S", 0.4, {"b", "S"}}}), {"add up to 0.9"}));
  EXPECT_TRUE(throws_saying<UsageError>(made({{"S", 1, {"a"}}}), {"can end"}));
  EXPECT_TRUE(throws_saying<UsageError>(made({{"S", 1, {"c", "S"}}}), {"'c' is neither"}));
  EXPECT_TRUE(throws_saying<UsageError>(made({{"S", 1, {"S"}}}), {"stand for itself"}));
  EXPECT_TRUE(throws_saying<UsageError>(made({{"S", 1, {"a", "S", "b"}}}), {"more than 1000 states"}));
}

}  // namespace
}  // namespace addnorm
