// Verdicts of published claims that need training, on made-up numbers: each can come out every way.
#include <cmath>

#include "addnorm/core/error.h"
#include "claims/bench/comparison.h"
#include "claims/verdicts.h"
#include "lab/made_up.h"

namespace addnorm {
namespace {

using test::kMixed;
using test::kNotSeen;
using test::kSeen;

const double kNan = std::nan("");

/// Five seeds around a mean, with a standard error of 0.01.
std::vector<double> around(double mean) {
  const double step = 0.01 * std::sqrt(2.0);
  return {mean - 2 * step, mean - step, mean, mean + step, mean + 2 * step};
}

TEST(Differences, AreHeldAgainstWelchsInterval) {
  const Samples s =
      made_up({{"a", around(2.1)}, {"b", around(2)}, {"c", around(2.01)}, {"broken", {2, kNan, 2}}, {"two", {1, 1}}});
  const lab::Difference d = lab::difference(s, "a", "b");
  EXPECT_NEAR(d.mean, 0.1, 1e-12);
  EXPECT_NEAR(d.error, 0.01 * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(d.margin, 2.306 * d.error, 1e-9);  // 8 degrees of freedom
  EXPECT_TRUE(d.above() && !d.below() && !d.no_higher() && d.no_lower());
  EXPECT_TRUE(lab::difference(s, "b", "a").below());
  EXPECT_TRUE(lab::difference(s, "c", "b").alike());  // 0.01 ± 0.033
  EXPECT_FALSE(lab::difference(s, "c", "b").alike(0.04));
  EXPECT_TRUE(lab::difference(s, "two", "b").open() && !lab::difference(s, "broken", "b").open() && !d.open());
  for (const char* name : {"broken", "two"}) {
    const lab::Difference none = lab::difference(s, name, "b");
    EXPECT_FALSE(none.above() || none.below() || none.no_higher() || none.no_lower()) << name;
  }
  const lab::Difference lone = lab::difference_from_zero(s, "a");
  EXPECT_NEAR(lone.mean, 2.1, 1e-12);
  EXPECT_NEAR(lone.margin, 2.776 * 0.01, 1e-9);  // 4
}

TEST(Differences, BetweenRatesTakeTheBestThatFinished) {
  const Samples s = made_up({{"x at 0.001", {kNan}}, {"x at 0.002", {3}}, {"x at 0.004", {2}}, {"x at 0.008", {kNan}}});
  EXPECT_EQ(lab::best_rate(s, "x", std::vector{0.001, 0.002, 0.004, 0.008}), 0.004);
  EXPECT_EQ(lab::best_rate(s, "x", std::vector{0.008, 0.001}), 0.001);
}

TEST(PublishedVerdict, OfTheTableOfNormsAsksForTheWholeOrder) {
  const auto judged = [](double rms, double rezero_ln, double rezero, double fixup) {
    return verdict_of("C16", {{"RMSNorm", around(rms)},
                              {"LayerNorm", around(2)},
                              {"ReZero + LayerNorm", around(rezero_ln)},
                              {"ReZero + RMSNorm", around(2.1)},
                              {"ReZero", around(rezero)},
                              {"Fixup", around(fixup)}});
  };
  EXPECT_EQ(judged(2, 2.1, 2.2, 2.3), kSeen);
  EXPECT_EQ(judged(2.2, 2.1, 2.2, 2.3), kMixed);
  EXPECT_EQ(judged(2, 2.1, 2.1, 2.3), kMixed);
  EXPECT_EQ(judged(2, 2, 2, 2), kNotSeen);
  EXPECT_EQ(judged(2, kNan, kNan, kNan), kNotSeen);
}

TEST(PublishedVerdict, OfNewArrangementsCountsThoseThatAreBetter) {
  const auto judged = [](int better) {
    Numbers numbers{{"pre-ln", around(2)}};
    for (const char* name : {"normformer", "sub-ln", "deepnorm", "resi-dual", "mix-ln", "lns", "peri-ln", "keel"})
      numbers.push_back({name, around(better-- > 0 ? 1.9 : 2.3)});
    return verdict_of("C17", numbers);
  };
  EXPECT_EQ(judged(0), kSeen);
  EXPECT_EQ(judged(2), kSeen);
  EXPECT_EQ(judged(3), kMixed);
  EXPECT_EQ(judged(8), kNotSeen);
}

TEST(PublishedVerdict, OfLateLayersNeedsStacksThatTrained) {
  const auto judged = [](double pre, double post, double upper_of_others, double trained) {
    Numbers numbers;
    for (const char* name : {"pre-ln", "post-ln", "mix-ln", "lns", "peri-ln"}) {
      const bool is_pre = std::string(name) == "pre-ln", is_post = std::string(name) == "post-ln";
      numbers.push_back({concat(name, ", trained"), {trained}});
      numbers.push_back({concat(name, ", rank correlation"), around(is_pre ? pre : is_post ? post : 0)});
      numbers.push_back({concat(name, ", upper half"), around(is_pre || is_post ? 0.2 : upper_of_others)});
    }
    return verdict_of("C18", numbers);
  };
  EXPECT_EQ(judged(-0.9, 0.9, 0.5, 1), kSeen);
  EXPECT_EQ(judged(-0.9, -0.9, 0.5, 1), kMixed);
  EXPECT_EQ(judged(0.9, -0.9, 0.2, 1), kNotSeen);
  EXPECT_EQ(judged(-0.9, 0.9, 0.5, 0), kNotSeen);
}

TEST(PublishedVerdict, OfUnevenGradientsComparesFirstAndLast) {
  const auto judged = [](double pre, double normformer) {
    return verdict_of("C20",
                      {{"pre-ln, W1", {1}}, {"pre-ln, W2", {pre}}, {"normformer, W1", {1}}, {"normformer, W2", {normformer}}});
  };
  EXPECT_EQ(judged(3, 1.2), kSeen);
  EXPECT_EQ(judged(3, 2.5), kMixed);
  EXPECT_EQ(judged(3, 3.5), kNotSeen);
  EXPECT_EQ(judged(1, 1), kNotSeen);
  EXPECT_EQ(judged(kNan, 1), kNotSeen);
}

TEST(PublishedVerdict, OfBlocksOneByOneAsksForAStraightLogarithm) {
  const auto judged = [](double last, double rank, double r2) {
    return verdict_of("C21", {{"no block", {0.5}},
                              {"4 blocks", {0.2}},
                              {"8 blocks", {last}},
                              {"rank correlation with the number of blocks", {-1, rank}},
                              {"factor per block", {0.8}},
                              {"R2 of the logarithm's line", {r2}}});
  };
  EXPECT_EQ(judged(0.1, -0.98, 0.95), kSeen);
  EXPECT_EQ(judged(0.1, -0.98, 0.7), kMixed);
  EXPECT_EQ(judged(0.1, -0.5, 0.95), kNotSeen);
  EXPECT_EQ(judged(0.4, -0.98, 0.95), kNotSeen);
}

TEST(PublishedVerdict, OfTFixupLooksAtTheSameStackWithXavierWeights) {
  const auto judged = [](double fixup, double residual) {
    return verdict_of("C23", {{"t-fixup", {2}},
                              {"t-fixup, trained", {fixup}},
                              {"residual", {kNan}},
                              {"residual, trained", {residual}},
                              {"post-ln", {3.4}},
                              {"post-ln, trained", {0}}});
  };
  EXPECT_EQ(judged(1, 0), kSeen);
  EXPECT_EQ(judged(1, 1), kMixed);
  EXPECT_EQ(judged(0, 0), kNotSeen);
  EXPECT_EQ(judged(0.5, 0), "not decided");
  EXPECT_EQ(judged(1, 0.5), kMixed);
}

TEST(PublishedVerdict, OfKeelAsksForAGapThatGrows) {
  const auto judged = [](double shallow, double deep, double keel_at_highest) {
    Numbers numbers{{"gap, 6 layers", around(shallow)}, {"gap, 24 layers", around(0.1)}, {"gap, 64 layers", around(deep)}};
    for (const char* rate : {"0.003", "0.01", "0.03"}) {
      const bool highest = std::string(rate) == "0.03";
      numbers.push_back({concat("pre-ln at ", rate, ", trained"), {highest ? 0.0 : 1.0}});
      numbers.push_back({concat("keel at ", rate, ", trained"), {highest ? keel_at_highest : 1.0}});
    }
    return verdict_of("C28", numbers);
  };
  EXPECT_EQ(judged(0, 0.3, 0), kSeen);
  EXPECT_EQ(judged(0, 0.3, 1), kSeen);
  EXPECT_EQ(judged(0.3, 0.3, 1), kMixed);
  EXPECT_EQ(judged(0.3, 0.3, 0), kNotSeen);
  EXPECT_EQ(judged(-0.5, -0.1, 0), kNotSeen);
  EXPECT_EQ(judged(0, kNan, 0), kNotSeen);
}

TEST(PublishedVerdict, OfBottomToTopAsksForMoreThanTraining) {
  const auto judged = [](double b2t, double b2t_trained, double post_trained) {
    Numbers numbers;
    for (const auto& [name, loss, trained] :
         {std::tuple{"post-ln", 3.4, post_trained}, {"pre-ln", 2.0, 1.0}, {"b2t", b2t, b2t_trained}}) {
      numbers.push_back({concat(name, ", held out"), around(loss)});
      numbers.push_back({concat(name, ", trained"), {trained}});
    }
    return verdict_of("C29", numbers);
  };
  EXPECT_EQ(judged(1.9, 1, 0), kSeen);
  EXPECT_EQ(judged(2.0, 1, 0), kMixed);
  EXPECT_EQ(judged(1.9, 1, 1), "not decided");  // nothing to rescue
  EXPECT_EQ(judged(1.9, 1, 0.5), "not decided");
  EXPECT_EQ(judged(1.9, 0.5, 0), "not decided");
  EXPECT_EQ(judged(kNan, 0, 0), kNotSeen);
}

TEST(PublishedVerdict, OfBatchNormLooksAtLossAndGap) {
  const auto judged = [](double loss, double gap, double gap_of_layer_norm) {
    Numbers numbers;
    for (const std::string norm : {"layernorm", "batchnorm"})
      for (const int size : {2, 8, 32}) {
        const bool batch = norm == "batchnorm";
        numbers.push_back({concat(norm, ", batches of ", size), around(batch ? loss : 2)});
        numbers.push_back({concat(norm, ", gap, batches of ", size), around(size != 2 ? 0.1 : batch ? gap : gap_of_layer_norm)});
      }
    return verdict_of("C30", numbers);
  };
  EXPECT_EQ(judged(2.2, 0.5, 0.1), kSeen);
  EXPECT_EQ(judged(2.2, 0.1, 0.1), kMixed);
  EXPECT_EQ(judged(2.2, 0.5, 0.5), kMixed);
  EXPECT_EQ(judged(2, 0.1, 0.1), kNotSeen);
}

TEST(PublishedVerdict, OfDynamicTanhLooksAtLossCurveAndSlope) {
  const auto judged = [](double loss, double curved, double rank) {
    return verdict_of("C31", {{"layernorm", around(2)},
                              {"dyt", around(loss)},
                              {"share of norms with an S", {curved}},
                              {"rank correlation of alpha", {rank}}});
  };
  EXPECT_EQ(judged(2.01, 0.8, 0.7), kSeen);
  EXPECT_EQ(judged(1.9, 0.8, 0.7), kSeen);
  EXPECT_EQ(judged(2.2, 0.8, 0.7), kMixed);
  EXPECT_EQ(judged(2.01, 0.2, 0), kMixed);
  EXPECT_EQ(judged(2.2, 0.2, 0), kNotSeen);
  EXPECT_EQ(judged(kNan, 0.2, 0), kNotSeen);
}

TEST(PublishedVerdict, OfRmsNormLooksAtLossAndTime) {
  const auto judged = [](double loss, double time) {
    return verdict_of("C32", {{"layernorm", around(2)}, {"rmsnorm", around(loss)}, {"time", {time, time}}});
  };
  EXPECT_EQ(judged(2.01, 0.8), kSeen);
  EXPECT_EQ(judged(2.01, 1), kMixed);
  EXPECT_EQ(judged(2.2, 0.8), kMixed);
  EXPECT_EQ(judged(2.2, 1), kNotSeen);
  EXPECT_EQ(judged(1.8, 0.8), kSeen);    // better is as good
  EXPECT_EQ(judged(2.03, 0.8), kMixed);  // neither as good nor worse for sure
  EXPECT_EQ(judged(2.03, 1), kMixed);
}

TEST(PublishedVerdict, OfQkNormLooksAtScoresAndRates) {
  const auto judged = [](double without_score, double with_entropy, double without_trained, double with_trained) {
    Numbers numbers;
    for (const std::string name : {"without", "with"})
      for (const char* rate : {"0.01", "0.03", "0.1"}) {
        const std::string at = concat(name, " at ", rate);
        numbers.push_back({at + ", largest score", {name == "with" ? 6 : without_score}});
        numbers.push_back({at + ", lowest entropy", {name == "with" ? 0.5 : 0.01, name == "with" ? with_entropy : 0.01}});
        numbers.push_back({at + ", trained", std::vector<double>(2, name == "with" ? with_trained : without_trained)});
      }
    return verdict_of("C33", numbers);
  };
  EXPECT_EQ(judged(50, 0.4, 0, 1), kSeen);
  EXPECT_EQ(judged(50, 0.4, 1, 1), kMixed);
  EXPECT_EQ(judged(7, 0.4, 0, 1), kMixed);
  EXPECT_EQ(judged(50, 0.01, 1, 1), kNotSeen);
  EXPECT_EQ(judged(7, 0.4, 1, 0), kNotSeen);
}

TEST(PublishedVerdict, OfQkNormAsksForMoreRatesInMostSeeds) {
  const auto judged = [](std::vector<double> with) {
    Numbers numbers;
    for (const char* rate : {"0.01", "0.03", "0.1"})
      for (const std::string name : {"without", "with"}) {
        const std::string at = concat(name, " at ", rate);
        numbers.push_back({at + ", largest score", {6, 6, 6}});
        numbers.push_back({at + ", lowest entropy", {0.4, 0.4, 0.4}});
        numbers.push_back({at + ", trained", name == "with" ? with : std::vector<double>{0, 0, 0}});
      }
    return verdict_of("C33", numbers);
  };
  EXPECT_EQ(judged({1, 1, 0}), kMixed);
  EXPECT_EQ(judged({1, 0, 0}), kNotSeen);
}

}  // namespace
}  // namespace addnorm
