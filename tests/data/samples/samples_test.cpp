// Samples by number: orders, windows of text, masks, files of pairs, labels and numbers.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "addnorm/data/language.h"
#include "addnorm/data/tasks.h"
#include "addnorm/data/text_dataset.h"
#include "data/samples/draws.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::throws_saying;
using Ids = std::vector<std::int32_t>;

/// Id k at place k.
std::shared_ptr<const TokenSource> counting(std::size_t n) {
  Ids ids(n);
  std::iota(ids.begin(), ids.end(), 0);
  return std::make_shared<TokenVector>(std::move(ids));
}

TEST(Permutation, VisitsEveryNumberOnce) {
  for (const std::uint64_t n : std::initializer_list<std::uint64_t>{1, 2, 3, 4, 5, 7, 16, 17, 63, 64, 65, 1000, 4097, 65536}) {
    const Permutation permutation(RandomKey(3), n);
    std::vector<bool> seen(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t at = permutation(i);
      ASSERT_LT(at, n);
      EXPECT_FALSE(seen[at]) << n;
      seen[at] = true;
    }
  }
  const std::uint64_t large = (1ull << 40) + 12345;
  EXPECT_LT(Permutation(RandomKey(3), large)(large - 1), large);
}

TEST(Permutation, SendsANumberAnywhereUnderSomeKey) {
  const std::uint64_t n = 10, keys = 20000;
  for (const std::uint64_t i : std::initializer_list<std::uint64_t>{0, 7}) {
    std::vector<double> counts(n);
    for (std::uint64_t key = 0; key < keys; ++key) ++counts[Permutation(RandomKey(key), n)(i)];
    for (const double count : counts) EXPECT_NEAR(count, 2000, 5 * std::sqrt(2000 * 0.9));  // five deviations
  }
}

TEST(TextWindows, EachIsVisitedOncePerEpochWhateverTheBatches) {
  const std::size_t seq_len = 7;
  const auto data = shuffled_windows(counting(150), {20, 100}, seq_len, 5);
  ASSERT_EQ(data->size(), 13u);  // 99 labels, 14 windows, one less
  std::set<std::vector<std::int32_t>> orders;
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    Ids begins;
    for (std::uint64_t first = 0; first < 13; first += 3) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(3, 13 - first));
      const Batch batch = data->batch(epoch * 13 + first, count);
      ASSERT_EQ(batch.ids.size(), count * seq_len);
      for (std::size_t i = 0; i < batch.ids.size(); ++i) {
        EXPECT_EQ(batch.ids[i], batch.ids[i / seq_len * seq_len] + static_cast<std::int32_t>(i % seq_len));
        EXPECT_EQ(batch.labels[i], batch.ids[i] + 1);
        EXPECT_GE(batch.ids[i], 20);
        EXPECT_LT(batch.labels[i], 120);
      }
      for (std::size_t i = 0; i < count; ++i) begins.push_back(batch.ids[i * seq_len]);
    }
    orders.insert(begins);
    std::ranges::sort(begins);
    for (std::size_t k = 1; k < begins.size(); ++k) EXPECT_EQ(begins[k] - begins[k - 1], 7);
  }
  EXPECT_EQ(orders.size(), 20u);
  // A batch that reaches into the next epoch is what its samples are one by one.
  const Batch across = data->batch(11, 5);
  for (std::size_t i = 0; i < 5; ++i) {
    const Batch one = data->batch(11 + i, 1);
    EXPECT_TRUE(std::equal(one.ids.begin(), one.ids.end(), across.ids.begin() + static_cast<std::ptrdiff_t>(i * seq_len)));
  }
}

TEST(TextWindows, ReadEveryTokenOverTheEpochs) {
  for (const std::size_t n : std::initializer_list<std::size_t>{8, 9, 14, 15, 16, 21, 22, 23, 50}) {
    const auto data = shuffled_windows(counting(n), {0, n}, 7, 1);
    std::set<std::int32_t> labels;
    const Batch batch = data->batch(0, static_cast<std::size_t>(data->size()) * 300);
    labels.insert(batch.labels.begin(), batch.labels.end());
    EXPECT_EQ(labels.size(), n - 1) << n;
  }
}

TEST(TextWindows, InOrderCountEveryLabelOnce) {
  for (const std::size_t n : std::initializer_list<std::size_t>{8, 9, 14, 15, 16, 50}) {
    const auto data = ordered_windows(counting(n), {0, n}, 7, 1.5);
    EXPECT_EQ(data->bytes_per_label(), 1.5);
    const Batch batch = data->batch(0, static_cast<std::size_t>(data->size()));
    std::multiset<std::int32_t> labels;
    for (const std::int32_t label : batch.labels)
      if (label != kIgnoredLabel) labels.insert(label);
    EXPECT_EQ(labels.size(), n - 1);
    EXPECT_EQ(std::set<std::int32_t>(labels.begin(), labels.end()).size(), n - 1);
    EXPECT_EQ(batch.counted(), n - 1);
    EXPECT_EQ(data->batch(data->size(), 1).ids, data->batch(0, 1).ids);
  }
}

TEST(TextWindows, RefuseATextShorterThanTheContextWithBothFigures) {  // T-08
  EXPECT_TRUE(throws_saying<DataError>([] { shuffled_windows(counting(64), {0, 64}, 64, 1); }, {"64 tokens", "64 needs", "65"}));
  EXPECT_TRUE(throws_saying<DataError>([] { ordered_windows(counting(0), {0, 0}, 64); }, {"0 tokens", "65"}));
  EXPECT_TRUE(throws_saying<DataError>([] { split_text(1, 64); }, {"1 token;", "65"}));
  EXPECT_TRUE(throws_saying<DataError>([] { split_text(129, 64); }, {"129 tokens", "validation", "130"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { shuffled_windows(counting(64), {60, 5}, 2, 1); }, {"60", "5", "64"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { ordered_windows(counting(64), {0, 64}, 0); }, {"seq_len is 0"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { split_text(1000, 64, 1); }, {"validation_share is 1"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { split_text(1000, 64, std::nan("")); }, {"validation_share is nan"}));
}

TEST(TextSplit, GivesTheLastTenthToValidationAndAtLeastOneWindow) {
  const TextSplit split = split_text(1115394, 64);  // tiny Shakespeare, as nanoGPT cuts it
  EXPECT_EQ(split.training.count, 1003854u);
  EXPECT_EQ(split.validation.first, 1003854u);
  EXPECT_EQ(split.validation.count, 111540u);
  const TextSplit tight = split_text(130, 64);
  EXPECT_EQ(tight.training.count, 65u);
  EXPECT_EQ(tight.validation.count, 65u);
  const TextSplit none = split_text(65, 64, 0);
  EXPECT_EQ(none.training.count, 65u);
  EXPECT_EQ(none.validation.count, 0u);
}

TEST(TextBaselines, AreTheEntropiesOfTheCounts) {
  Ids turns;
  for (int i = 0; i < 1001; ++i) turns.push_back(i % 2);
  const Baselines two = text_baselines(TokenVector(turns), {0, 1000}, 256);
  EXPECT_DOUBLE_EQ(two.uniform, std::log(2.0));
  EXPECT_NEAR(two.unigram, std::log(2.0), test::double_tolerance().atol);
  EXPECT_NEAR(two.bigram, 0, test::double_tolerance().atol);
  EXPECT_TRUE(std::isnan(two.floor));

  const Language language;
  const TokenVector text(language.sample(1, 0, 400000));
  const Baselines cells = text_baselines(text, {0, 400000}, 43), mapped = text_baselines(text, {0, 400000}, 5000);
  EXPECT_NEAR(cells.bigram, mapped.bigram, test::double_tolerance().atol);
  const Baselines exact = language.baselines(100000);
  EXPECT_NEAR(cells.unigram, exact.unigram, 0.01);  // 400000 words: some 0.002
  EXPECT_NEAR(cells.bigram, exact.bigram, 0.01);
  EXPECT_EQ(text_baselines(text, {0, 400000}, 43, 1000).bigram, text_baselines(text, {0, 1000}, 43).bigram);
  EXPECT_TRUE(throws_saying<DataError>([&] { text_baselines(text, {0, 1000}, 20); }, {"id", "vocabulary has 20"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { text_baselines(text, {0, 1}, 43); }, {"1 tokens", "2"}));
}

/// Labels in their order, some of them ignored.
class Labels : public Dataset {
 public:
  Labels(Ids labels, bool endless) : labels_(std::move(labels)), endless_(endless) {}
  Batch batch(std::uint64_t first, std::size_t count) const override {
    Batch batch{.first = first, .sequences = count};
    for (std::size_t i = 0; i < count; ++i) batch.labels.push_back(labels_[(first + i) % labels_.size()]);
    return batch;
  }
  std::uint64_t size() const override { return endless_ ? 0 : labels_.size(); }

 private:
  Ids labels_;
  bool endless_;
};

TEST(LabelBaselines, AreTheEntropiesOfTheLabelsThatCount) {
  const Labels three({0, 7, kIgnoredLabel, 7, kIgnoredLabel, 7}, false);
  const Baselines known = label_baselines(three);
  EXPECT_DOUBLE_EQ(known.uniform, std::log(2.0));
  EXPECT_NEAR(known.unigram, -(0.25 * std::log(0.25) + 0.75 * std::log(0.75)), test::double_tolerance().atol);
  EXPECT_TRUE(std::isnan(known.floor));
  EXPECT_TRUE(std::isnan(known.bigram));
  EXPECT_EQ(label_baselines(Labels({1, 2, 3, 4}, true), 2).uniform, std::log(2.0)) << "of an endless set the first ones";
  EXPECT_EQ(label_baselines(Labels({1, 2, 3, 4}, false), 3).uniform, std::log(3.0));
  EXPECT_TRUE(throws_saying<UsageError>([] { label_baselines(Labels({kIgnoredLabel}, false)); }, {"none of 1 samples"}));
}

TEST(LabelBaselines, OfWordsTurnedRoundFollowFromTheirLengths) {
  const Task task(TaskKind::reverse, {.least = 4, .most = 8, .symbols = 18});
  const double end = 1.0 / 7;  // six letters on average, and an end
  const double unigram = -end * std::log(end) - (1 - end) * std::log((1 - end) / 18);
  for (const PairForm form : {PairForm::seq2seq, PairForm::lm}) {
    const Baselines counted = label_baselines(*task.dataset(1, form), 4096);
    EXPECT_DOUBLE_EQ(counted.uniform, std::log(19.0));
    EXPECT_NEAR(counted.unigram, unigram, 0.01);  // 29000 labels: some 0.002
  }
}

}  // namespace
}  // namespace addnorm
