#include "kernels/reduce/softmax.h"

#include <cmath>
#include <limits>

#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::Guarded;
using test::kInf;
using test::normal_values;

std::vector<std::int32_t> some_targets(std::size_t rows, std::size_t classes, std::int32_t ignore) {
  std::vector<std::int32_t> targets(rows);
  for (std::size_t r = 0; r < rows; ++r) targets[r] = r % 4 == 2 ? ignore : static_cast<std::int32_t>(r * 7 % classes);
  return targets;
}

struct Result {
  std::vector<double> losses;
  std::vector<float> dlogits;
};

Result computed(const std::vector<float>& logits, const std::vector<std::int32_t>& targets, double smoothing = 0) {
  Result result{std::vector<double>(targets.size()), std::vector<float>(logits.size())};
  kernels::cross_entropy(kernels::CrossEntropyArgs<float>{.rows = targets.size(),
                                                          .classes = logits.size() / targets.size(),
                                                          .logits = logits.data(),
                                                          .targets = targets.data(),
                                                          .label_smoothing = smoothing,
                                                          .losses = result.losses.data(),
                                                          .dlogits = result.dlogits.data()});
  return result;
}

class CrossEntropy : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(CrossEntropy);

TEST_P(CrossEntropy, FollowsTheReferenceInDouble) {
  for (const std::size_t classes : {1u, 2u, 3u, 7u, 8u, 9u, 17u, 33u, 513u, 1030u}) {
    for (const double smoothing : {0.0, 0.1, 1.0}) {
      for (const bool weighted : {false, true}) {
        SCOPED_TRACE(concat(classes, " classes, smoothing ", smoothing, ", weights ", weighted));
        const std::size_t rows = 5;
        const Guarded<float> logits(normal_values(rows * classes, classes, 0, 4));
        std::vector<float> weights = normal_values(classes, 9);
        for (float& w : weights) w = std::abs(w);
        if (classes > 2) weights[1] = 0;
        const Guarded<float> guarded_weights(weights);
        const Guarded<std::int32_t> targets(some_targets(rows, classes, -1));
        Guarded<double> losses(rows);
        Guarded<float> dlogits(rows * classes);
        const kernels::CrossEntropyArgs<float> args{.rows = rows,
                                                    .classes = classes,
                                                    .logits = logits.data(),
                                                    .targets = targets.data(),
                                                    .class_weights = weighted ? guarded_weights.data() : nullptr,
                                                    .ignore_index = -1,
                                                    .label_smoothing = smoothing,
                                                    .gradient_scale = 0.25,
                                                    .losses = losses.data(),
                                                    .dlogits = dlogits.data()};
        kernels::cross_entropy(args);

        const std::vector<double> exact(logits.data(), logits.data() + logits.size());
        const std::vector<double> exact_weights(weights.begin(), weights.end());
        std::vector<double> want(rows), want_gradient(exact.size());
        kernels::cross_entropy(kernels::CrossEntropyArgs<double>{.rows = rows,
                                                                 .classes = classes,
                                                                 .logits = exact.data(),
                                                                 .targets = targets.data(),
                                                                 .class_weights = weighted ? exact_weights.data() : nullptr,
                                                                 .ignore_index = -1,
                                                                 .label_smoothing = smoothing,
                                                                 .gradient_scale = 0.25,
                                                                 .losses = want.data(),
                                                                 .dlogits = want_gradient.data()});
        EXPECT_NEAR_ALL(std::span<const double>(losses), want, test::softmax_tolerance());
        EXPECT_NEAR_ALL(std::span<const float>(dlogits), want_gradient, test::softmax_tolerance());
      }
    }
  }
}

TEST_P(CrossEntropy, SurvivesLogitsOfTenThousand) {
  const Result right = computed({1e4f, -1e4f, 0.0f}, {0}), wrong = computed({1e4f, -1e4f, 0.0f}, {1});
  EXPECT_EQ(right.losses[0], 0);
  EXPECT_EQ(wrong.losses[0], 2e4);
  EXPECT_SAME_BITS(wrong.dlogits, (std::vector<float>{1, -1, 0}));
}

TEST_P(CrossEntropy, CostsInfinityWhereAWantedProbabilityIsZero) {
  const Result impossible = computed({-kInf, 1.0f}, {0});
  EXPECT_EQ(impossible.losses[0], static_cast<double>(kInf));
  EXPECT_SAME_BITS(impossible.dlogits, (std::vector<float>{-1, 1}));
  const Result fine = computed({-kInf, 1.0f}, {1});
  EXPECT_EQ(fine.losses[0], 0);
  EXPECT_EQ(computed({-kInf, 1.0f}, {1}, 0.1).losses[0], static_cast<double>(kInf));
  EXPECT_EQ(computed({3.0f}, {0}).losses[0], 0);  // one class: always right
}

TEST_P(CrossEntropy, OfAVocabularyOfOneIsZeroAndSoIsItsGradient) {
  for (const double smoothing : {0.0, 0.1, 1.0}) {
    const Result result = computed({3.0f, -1e4f, 0.1f}, {0, 0, 0}, smoothing);
    EXPECT_EQ(result.losses, std::vector<double>(3, 0.0));
    EXPECT_NEAR_ALL(result.dlogits, std::vector<float>(3, 0.0f), test::exact());
  }
}

TEST_P(CrossEntropy, LeavesTheGradientsOfOtherRowsAloneWhenOneHasNoAnswer) {
  const std::size_t width = 11;
  const auto logits = normal_values(3 * width, 1);
  const Result clean = computed(logits, {1, 2, 3});
  for (const std::vector<float>& bad : {std::vector<float>(width, -kInf), std::vector<float>(width, std::nanf(""))}) {
    auto spoilt = logits;
    std::copy(bad.begin(), bad.end(), spoilt.begin() + width);
    const Result result = computed(spoilt, {1, 2, 3});
    for (std::size_t c = 0; c < width; ++c) EXPECT_TRUE(std::isnan(result.dlogits[width + c])) << c;
    EXPECT_TRUE(std::isnan(result.losses[1]));
    for (const std::size_t row : {0u, 2u}) {
      EXPECT_EQ(result.losses[row], clean.losses[row]);
      EXPECT_SAME_BITS(std::span(result.dlogits).subspan(row * width, width),
                       std::span(clean.dlogits).subspan(row * width, width));
    }
  }
}

TEST_P(CrossEntropy, NeverLooksAtIgnoredRows) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Result result = computed({nan, nan, 1.0f, 2.0f}, {-100, 0});
  EXPECT_EQ(result.losses[0], 0);
  EXPECT_SAME_BITS(std::span(result.dlogits).first(2), (std::vector<float>{0, 0}));
  EXPECT_SAME_BITS(std::span(result.dlogits).last(2), computed({1.0f, 2.0f}, {0}).dlogits);
  EXPECT_TRUE(std::isnan(computed({nan, 1.0f}, {1}).losses[0]));
}

TEST(CrossEntropyOfManyRows, HasTheSameBitsForAnyThreadCountInPlaceToo) {
  const std::size_t rows = 300, classes = 203;
  const auto logits = normal_values(rows * classes, 1);
  const auto targets = some_targets(rows, classes, -100);
  Result first;
  test::with_every_thread_count([&] {
    const Result again = computed(logits, targets, 0.1);
    if (first.losses.empty()) first = again;
    EXPECT_EQ(again.losses, first.losses);
    EXPECT_SAME_BITS(again.dlogits, first.dlogits);
  });
  auto in_place = logits;
  std::vector<double> losses(rows);
  kernels::cross_entropy(kernels::CrossEntropyArgs<float>{.rows = rows,
                                                          .classes = classes,
                                                          .logits = in_place.data(),
                                                          .targets = targets.data(),
                                                          .label_smoothing = 0.1,
                                                          .losses = losses.data(),
                                                          .dlogits = in_place.data()});
  EXPECT_SAME_BITS(in_place, first.dlogits);
  EXPECT_EQ(losses, first.losses);
}

}  // namespace
}  // namespace addnorm
