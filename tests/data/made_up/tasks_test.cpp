// Made-up data: tasks with one right answer, Gaussian mixtures; and masks over any data.
#include "addnorm/data/tasks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "addnorm/data/language.h"
#include "addnorm/data/masked.h"
#include "addnorm/data/mixture.h"
#include "addnorm/data/text_dataset.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::throws_saying;
using Ids = std::vector<std::int32_t>;

/// Shares of independent draws stand within so many deviations of their probability: 5 fail once in two million.
double share_tolerance(double p, double n) { return 5 * std::sqrt(p * (1 - p) / n); }

std::vector<TaskKind> all_kinds() {
  std::vector<TaskKind> kinds;
  for (const std::string& name : task_names()) kinds.push_back(task_kind(name));
  return kinds;
}

TEST(Task, HasTheAnswersThatAPersonWouldGive) {
  EXPECT_EQ(Task(TaskKind::copy).answer("gcab"), "gcab");
  EXPECT_EQ(Task(TaskKind::reverse).answer("gcab"), "bacg");
  EXPECT_EQ(Task(TaskKind::sort).answer("gcabc"), "abccg");
  EXPECT_EQ(Task(TaskKind::add).answer("86+517"), "603");
  EXPECT_EQ(Task(TaskKind::add).answer("0+0"), "0");
  EXPECT_EQ(Task(TaskKind::add).answer("999+1"), "1000");
  EXPECT_EQ(Task(TaskKind::add).answer("99999999999999999999999+1"), "100000000000000000000000");
  EXPECT_EQ(Task(TaskKind::recall).answer("d7a2f7?a"), "2");
  const std::map<std::uint32_t, std::string> words = {{0, "zero"},
                                                      {7, "seven"},
                                                      {13, "thirteen"},
                                                      {20, "twenty"},
                                                      {85, "eighty five"},
                                                      {100, "one hundred"},
                                                      {119, "one hundred nineteen"},
                                                      {5080, "five thousand eighty"},
                                                      {1000000, "one million"},
                                                      {340000012, "three hundred forty million twelve"}};
  for (const auto& [number, text] : words) EXPECT_EQ(Task(TaskKind::number_words).answer(std::to_string(number)), text);
}

TEST(Task, QuestionsAndAnswersStayWithinWhatItSays) {
  for (const TaskKind kind : all_kinds()) {
    const Task task(kind);
    const std::string alphabet = task.alphabet();
    std::set<char> used;
    std::set<std::size_t> lengths;
    std::size_t longest = 0, longest_target = 0;
    for (std::uint64_t i = 0; i < 20000; ++i) {
      const TaskPair pair = task.pair(1, i);
      ASSERT_EQ(pair.source.find_first_not_of(alphabet), std::string::npos) << pair.source;
      ASSERT_EQ(pair.target.find_first_not_of(alphabet), std::string::npos) << pair.target;
      used.insert(pair.source.begin(), pair.source.end());
      used.insert(pair.target.begin(), pair.target.end());
      longest = std::max(longest, pair.source.size());
      longest_target = std::max(longest_target, pair.target.size());
    }
    EXPECT_LE(longest, task.longest_source());
    EXPECT_LE(longest_target, task.longest_target());
    if (kind == TaskKind::number_words) {
      used.insert({'m', 'i', 'l'});  // "million" takes seven digits
    } else {
      EXPECT_EQ(longest_target, task.longest_target());
    }
    EXPECT_EQ(used.size(), alphabet.size()) << alphabet;
  }
  std::size_t longest = 0;
  for (std::uint32_t number = 0; number < 1000000; number += 373) longest = std::max(longest, number_words(number).size());
  EXPECT_LE(longest, Task(TaskKind::number_words).longest_target());
  EXPECT_EQ(number_words(373373).size(), Task(TaskKind::number_words).longest_target());
}

TEST(Task, PairsAreAFunctionOfSeedAndIndex) {
  for (const TaskKind kind : all_kinds()) {
    const Task task(kind), same(kind);
    std::set<std::string> sources;
    for (std::uint64_t i = 0; i < 100; ++i) {
      EXPECT_EQ(task.pair(3, i).source, same.pair(3, i).source);
      sources.insert(task.pair(3, i).source);
      sources.insert(task.pair(4, i).source);
    }
    EXPECT_GT(sources.size(), 120u) << task_names()[static_cast<std::size_t>(kind)];
  }
}

TEST(Task, LengthsAndSymbolsAreChosenUniformly) {
  const Task task(TaskKind::copy, {.least = 2, .most = 5, .symbols = 3});
  std::map<std::size_t, double> lengths;
  std::map<char, double> letters;
  double all = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::string source = task.pair(1, i).source;
    ++lengths[source.size()];
    for (const char c : source) ++letters[c];
    all += static_cast<double>(source.size());
  }
  EXPECT_EQ(lengths.size(), 4u);
  for (const auto& [length, count] : lengths) EXPECT_NEAR(count / 20000, 0.25, share_tolerance(0.25, 20000)) << length;
  EXPECT_EQ(letters.size(), 3u);
  for (const auto& [letter, count] : letters) EXPECT_NEAR(count / all, 1 / 3.0, share_tolerance(1 / 3.0, all)) << letter;
}

TEST(Task, SeqToSeqBatchesHaveBeginEndAndPadding) {
  const Task task(TaskKind::reverse, {.least = 1, .most = 4, .symbols = 5});
  const auto tokenizer = task.tokenizer();
  const auto begin = *tokenizer->special().begin, end = *tokenizer->special().end;
  const auto data = task.dataset(9);
  const Batch batch = data->batch(50, 16);
  const std::size_t source = batch.ids.size() / 16, target = batch.target_ids.size() / 16;
  ASSERT_EQ(batch.lengths.size(), 16u);
  ASSERT_EQ(batch.target_lengths.size(), 16u);
  ASSERT_EQ(batch.labels.size(), batch.target_ids.size());
  for (std::size_t i = 0; i < 16; ++i) {
    const TaskPair pair = task.pair(9, 50 + i);
    const auto ids = std::span(batch.ids).subspan(i * source, source);
    const auto read = std::span(batch.target_ids).subspan(i * target, target);
    const auto labels = std::span(batch.labels).subspan(i * target, target);
    const std::size_t n = pair.source.size();
    EXPECT_EQ(batch.lengths[i], n);
    EXPECT_EQ(batch.target_lengths[i], n + 1);
    EXPECT_EQ(tokenizer->decode(ids.first(n)), pair.source);
    EXPECT_EQ(read[0], begin);
    EXPECT_EQ(tokenizer->decode(read.subspan(1, n)), pair.target);
    EXPECT_EQ(tokenizer->decode(labels.first(n)), pair.target);
    EXPECT_EQ(labels[n], end);
    for (std::size_t t = n + 1; t < target; ++t) EXPECT_EQ(labels[t], kIgnoredLabel);
    // Alone it has no padding.
    const Batch one = data->batch(50 + i, 1);
    EXPECT_TRUE(one.lengths.empty());
    EXPECT_TRUE(std::ranges::equal(one.ids, ids.first(n)));
  }
}

TEST(Task, LanguageModelBatchesPredictOnlyTheAnswer) {
  const Task task(TaskKind::add);
  const auto tokenizer = task.tokenizer();
  const Batch batch = task.dataset(2, PairForm::lm)->batch(0, 8);
  const std::size_t length = batch.ids.size() / 8;
  EXPECT_TRUE(batch.target_ids.empty());
  std::size_t counted = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const TaskPair pair = task.pair(2, i);
    const std::size_t n = pair.source.size(), m = pair.target.size();
    const auto ids = std::span(batch.ids).subspan(i * length, length),
               labels = std::span(batch.labels).subspan(i * length, length);
    EXPECT_EQ(batch.lengths[i], n + 1 + m);
    EXPECT_EQ(tokenizer->decode(ids.first(n)), pair.source);
    EXPECT_EQ(ids[n], *tokenizer->special().begin);
    EXPECT_EQ(tokenizer->decode(ids.subspan(n + 1, m)), pair.target);
    for (std::size_t t = 0; t < n; ++t) EXPECT_EQ(labels[t], kIgnoredLabel);
    EXPECT_EQ(tokenizer->decode(labels.subspan(n, m)), pair.target);
    EXPECT_EQ(labels[n + m], *tokenizer->special().end);
    counted += m + 1;
  }
  EXPECT_EQ(batch.counted(), counted);
  EXPECT_EQ(task.dataset(2)->batch(0, 0).sequences, 0u);
}

TEST(Task, RefusesOptionsAndQuestionsWithWhatIsAllowed) {
  EXPECT_TRUE(throws_saying<UsageError>([] { Task(TaskKind::copy, {.symbols = 27}); }, {"copy", "symbols is 27", "2 to 26"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Task(TaskKind::add, {.symbols = 3}); }, {"add", "no letters"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Task(TaskKind::sort, {.least = 5, .most = 4}); }, {"5 to 4", "letters"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Task(TaskKind::number_words, {.most = 10}); }, {"10 digits", "1 to 9"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Task(TaskKind::recall, {.most = 9, .symbols = 8}); }, {"9 letters", "1 to 8"}));
  EXPECT_EQ(Task(TaskKind::copy, {.least = 20}).options().most, 20u);
  EXPECT_EQ(Task(TaskKind::copy, {.most = 2}).options().least, 2u);
  EXPECT_EQ(task_kind("Number_Words"), TaskKind::number_words);
  EXPECT_TRUE(throws_saying<UsageError>([] { task_kind("revers"); }, {"unknown task 'revers'", "did you mean reverse", "sort"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Task(TaskKind::add).answer("86+"); }, {"'86+'", "86+517"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Task(TaskKind::recall).answer("a1b2?c"); }, {"'c'", "not in it"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Task(TaskKind::copy, {.symbols = 3}).answer("abd"); }, {"'abd'", "a to c"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Task(TaskKind::number_words).answer("1234567890"); }, {"nine digits"}));
}

TEST(Mixture, PointsLieAroundTheirCentres) {
  const Mixture mixture({.classes = 3, .dimension = 5, .spread = 0.25, .seed = 8});
  const std::size_t n = 30000;
  const Batch batch = mixture.dataset(1)->batch(0, n);
  std::vector<double> counts(3), sums(15), squares(15);
  for (std::size_t i = 0; i < n; ++i) {
    const auto label = static_cast<std::size_t>(batch.labels[i]);
    ++counts[label];
    for (std::size_t j = 0; j < 5; ++j) {
      const double offset = batch.features[i * 5 + j] - mixture.centres()[label * 5 + j];
      sums[label * 5 + j] += offset;
      squares[label * 5 + j] += offset * offset;
    }
  }
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(counts[c] / n, 1 / 3.0, share_tolerance(1 / 3.0, n));
    for (std::size_t j = 0; j < 5; ++j) {
      EXPECT_NEAR(sums[c * 5 + j] / counts[c], 0, 5 * 0.25 / std::sqrt(counts[c]));
      EXPECT_NEAR(squares[c * 5 + j] / counts[c] / 0.0625, 1, 5 * std::sqrt(2 / counts[c]));
    }
  }
  const Batch back = mixture.dataset(1)->batch(7, 2);
  EXPECT_TRUE(std::equal(back.features.begin(), back.features.end(), batch.features.begin() + 35));
  EXPECT_EQ(back.labels[0], batch.labels[7]);
}

TEST(Mixture, BestAccuracyOfTwoClassesIsThatOfTheFormula) {
  const Mixture mixture({.classes = 2, .dimension = 3, .spread = 1.5, .seed = 2});
  double squared = 0;
  for (std::size_t j = 0; j < 3; ++j) squared += std::pow(mixture.centres()[j] - mixture.centres()[3 + j], 2);
  const double exact = 0.5 * std::erfc(-std::sqrt(squared) / (2 * 1.5) / std::sqrt(2.0));  // Phi(distance / (2 spread))
  const Mixture::Best best = mixture.best(40000);
  EXPECT_NEAR(best.accuracy_error, std::sqrt(exact * (1 - exact) / 40000), 0.0005);
  EXPECT_NEAR(best.accuracy, exact, 5 * best.accuracy_error);
  EXPECT_GT(best.loss, 0);
  EXPECT_LT(best.loss, std::log(2.0));
  EXPECT_TRUE(throws_saying<UsageError>([] { Mixture({.classes = 1}); }, {"classes is 1"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Mixture({.spread = 0}); }, {"spread is 0"}));
}

TEST(Masked, HidesFifteenPercentInTheSharesOfBert) {
  const auto tokenizer = byte_tokenizer({.begin_end = true, .mask = true});
  const std::size_t n = 500, length = 64, chosen = 10;  // round(0.15 * 64)
  const std::shared_ptr<const Dataset> plain = Language().dataset(length, 4);
  const auto data = masked(plain, *tokenizer, {.seed = 6});
  const Batch before = plain->batch(0, n), batch = data->batch(0, n);
  double hidden = 0, kept = 0, other = 0;
  std::vector<double> places(length);
  std::set<std::int32_t> replacements;
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    if (batch.labels[i] == kIgnoredLabel) {
      EXPECT_EQ(batch.ids[i], before.ids[i]);
      continue;
    }
    EXPECT_EQ(batch.labels[i], before.ids[i]);
    ++places[i % length];
    if (batch.ids[i] == *tokenizer->special().mask)
      ++hidden;
    else if (batch.ids[i] == before.ids[i])
      ++kept;
    else
      ++other, replacements.insert(batch.ids[i]);
  }
  const double all = static_cast<double>(n * chosen);
  EXPECT_EQ(hidden + kept + other, all);
  EXPECT_NEAR(hidden / all, 0.8, share_tolerance(0.8, all));
  EXPECT_NEAR(other / all, 0.1 * 255 / 256, share_tolerance(0.1, all));
  EXPECT_LT(*replacements.rbegin(), 256);  // never a special token
  EXPECT_GT(*replacements.rbegin(), 240);
  for (const double count : places) EXPECT_NEAR(count / n, chosen / 64.0, share_tolerance(chosen / 64.0, n));
}

TEST(Masked, MasksAreAFunctionOfSeedAndIndex) {
  const auto tokenizer = byte_tokenizer({.mask = true});
  const auto source = std::make_shared<TokenVector>(Ids(33, 7));
  const std::shared_ptr<const Dataset> plain = ordered_windows(source, {0, 33}, 16);  // two windows with the same ids
  const auto data = masked(plain, *tokenizer);
  const Batch whole = data->batch(0, 6), part = data->batch(3, 2);
  EXPECT_TRUE(std::equal(part.labels.begin(), part.labels.end(), whole.labels.begin() + 48));
  EXPECT_TRUE(std::equal(part.ids.begin(), part.ids.end(), whole.ids.begin() + 48));
  EXPECT_FALSE(std::equal(whole.labels.begin(), whole.labels.begin() + 16, whole.labels.begin() + 32));  // next epoch
  EXPECT_EQ(data->size(), 2u);
}

TEST(Masked, LeavesPaddingAndSpecialTokensAloneAndHidesAtLeastOne) {
  const Task task(TaskKind::copy, {.least = 1, .most = 5});
  const auto tokenizer = char_tokenizer(task.alphabet(), {.begin_end = true, .mask = true});
  const auto data = masked(std::shared_ptr<const Dataset>(task.dataset(1, PairForm::lm)), *tokenizer);
  const Batch batch = data->batch(0, 64);
  const std::size_t length = batch.ids.size() / 64;
  for (std::size_t i = 0; i < 64; ++i) {
    std::size_t chosen = 0;
    for (std::size_t t = 0; t < length; ++t) {
      const std::int32_t label = batch.labels[i * length + t];
      if (label == kIgnoredLabel) continue;
      ++chosen;
      EXPECT_LT(t, batch.lengths[i]);
      EXPECT_LT(label, 26);
    }
    EXPECT_GE(chosen, 1u);
  }
  const std::shared_ptr<const Dataset> plain = Language().dataset(8, 1);
  EXPECT_TRUE(throws_saying<UsageError>([&] { masked(plain, *byte_tokenizer()); }, {"bytes", "no mask token"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { masked(plain, *tokenizer, {.share = 0}); }, {"share is 0"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { masked(plain, *tokenizer, {.hidden = 0.95}); }, {"hidden is 0.95"}));
}

}  // namespace
}  // namespace addnorm
