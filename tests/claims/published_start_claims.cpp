// Verdicts of published claims about initialisation, on made-up numbers: each can come out every way.
#include <cmath>

#include "addnorm/core/error.h"
#include "claims/verdicts.h"
#include "lab/made_up.h"

namespace addnorm {
namespace {

using test::kMixed;
using test::kNotSeen;
using test::kSeen;

TEST(StartVerdict, OfTheIdentitySkipAsksForPowersAndForOneFactorAlone) {
  const auto judged = [](double exact, double at_one, double elsewhere) {
    Numbers numbers;
    for (const char* a : {"0.5", "0.9", "1", "1.1"}) {
      numbers.push_back({concat("a = ", a, ", F = 0, over a^32"), {exact}});
      numbers.push_back({concat("a = ", a, ", small branches"), {std::string_view(a) == "1" ? at_one : elsewhere}});
    }
    return verdict_of("C2", numbers);
  };
  EXPECT_EQ(judged(1, 1.2, 20), kSeen);
  EXPECT_EQ(judged(1.1, 1.2, 20), kMixed);
  EXPECT_EQ(judged(1, 1.2, 1.2), kMixed);
  EXPECT_EQ(judged(1.1, 4, 20), kNotSeen);
}

TEST(StartVerdict, OfGradientsByLayerAsksForBothDepths) {
  const auto judged = [](double post_6, double post_24, double pre_24) {
    return verdict_of("C4", {{"post-ln, 6 layers", {post_6}},
                             {"post-ln, 24 layers", {post_24}},
                             {"pre-ln, 6 layers", {0.1}},
                             {"pre-ln, 24 layers", {pre_24}}});
  };
  EXPECT_EQ(judged(0.5, 1, -0.2), kSeen);
  EXPECT_EQ(judged(0.5, 0.5, -0.2), kMixed);
  EXPECT_EQ(judged(0.5, 1, -1), kMixed);
  EXPECT_EQ(judged(0, 0, 0), kNotSeen);
}

TEST(StartVerdict, OfTheStreamsSizeHasTwoParts) {
  const auto judged = [](double inside, double sum) {
    return verdict_of(
        "C5",
        {{"pre-LN, layers between the lines", {inside}}, {"pre-LN, last layer", {9}}, {"post-LN, sum before the norm", {sum}}});
  };
  EXPECT_EQ(judged(1, 1.52), kSeen);
  EXPECT_EQ(judged(0.5, 1.52), kMixed);
  EXPECT_EQ(judged(1, 2), kMixed);
  EXPECT_EQ(judged(0.5, 2), kNotSeen);
}

TEST(StartVerdict, OfAmplificationDistinguishesPowersFromLogarithms) {
  const auto judged = [](double post, double pre, double r2, double deepnorm) {
    Numbers numbers{{"post-ln, power", {post}}, {"deepnorm, power", {deepnorm}}};
    for (const char* name : {"pre-ln", "admin"}) {
      numbers.push_back({concat(name, ", power"), {pre}});
      numbers.push_back({concat(name, ", R2 against ln n"), {r2}});
    }
    return verdict_of("C10", numbers);
  };
  EXPECT_EQ(judged(1, 0.3, 0.99, 0), kSeen);
  EXPECT_EQ(judged(1, 0.9, 0.99, 0), kMixed);
  EXPECT_EQ(judged(1, 0.3, 0.9, 0), kMixed);
  EXPECT_EQ(judged(1, 0.3, 0.99, 0.4), kMixed);
  EXPECT_EQ(judged(0.3, 0.9, 0.99, 0), kNotSeen);
}

TEST(StartVerdict, OfDependencyLooksAtTheNewestBranch) {
  const auto judged = [](double post, double pre) {
    return verdict_of("C11", {{"post-ln, newest branch", {post}},
                              {"post-ln, newest over the eighth before", {128}},
                              {"pre-ln, newest branch", {pre}},
                              {"pre-ln, newest over the eighth before", {1}}});
  };
  EXPECT_EQ(judged(0.5, 0.04), kSeen);
  EXPECT_EQ(judged(0.5, 0.5), kMixed);
  EXPECT_EQ(judged(0.04, 0.04), kMixed);
  EXPECT_EQ(judged(0.04, 0.5), kNotSeen);
}

TEST(StartVerdict, OfRankCollapseComparesFeedForwardUnitsAfterTwoLayers) {
  const auto judged = [](double bare, double skips, double ffn_at_2, double ffn_at_8) {
    return verdict_of("C15", {{"attention", {bare}},
                              {"attention and norms", {bare}},
                              {"attention and feed-forward", {ffn_at_8}},
                              {"attention with skips", {skips}},
                              {"attention, 2 layers", {-1.45}},
                              {"attention and feed-forward, 2 layers", {ffn_at_2}},
                              {"slope of ln(-ln r)", {1}},
                              {"R2", {0.99}}});
  };
  EXPECT_EQ(judged(-15, -0.1, -1, -15), kSeen);
  EXPECT_EQ(judged(-15, -0.1, -2.23, -15), kMixed);
  EXPECT_EQ(judged(-15, -0.1, -2.23, -5), kMixed);  // what is left after 8 layers does not decide
  EXPECT_EQ(judged(-15, -4, -1, -15), kNotSeen);
  EXPECT_EQ(judged(-1, -0.1, -1, -1), kNotSeen);
}

TEST(StartVerdict, OfTheStreamsVarianceCountsFourShapes) {
  const auto judged = [](double pre, double lns, double post) {
    return verdict_of("C19", {{"pre-ln, slope", {pre}},
                              {"pre-ln, R2 of a line", {0.99}},
                              {"lns, slope", {lns}},
                              {"lns, R2 of a logarithm", {0.99}},
                              {"peri-ln, slope", {post == 0 ? 1.0 : 2}},
                              {"post-ln, slope", {post}}});
  };
  EXPECT_EQ(judged(1, 0.1, 0), kSeen);
  EXPECT_EQ(judged(1, 0.5, 0), kMixed);
  EXPECT_EQ(judged(0.1, 0.1, 1), kNotSeen);
}

TEST(StartVerdict, OfPositionsLooksAtTheProbe) {
  const auto judged = [](double plain, double post, double pre) {
    Numbers numbers;
    for (const auto& [name, probed] : {std::pair{"plain", plain}, {"post-ln", post}, {"pre-ln", pre}, {"residual", pre}})
      for (const char* layers : {"0", "2", "8"})
        numbers.push_back({concat(name, ", ", layers), {std::string_view(layers) == "0" ? 1.0 : probed}});
    return verdict_of("C22", numbers);
  };
  EXPECT_EQ(judged(0.06, 0.3, 0.8), kSeen);
  EXPECT_EQ(judged(0.5, 0.3, 0.8), kMixed);
  EXPECT_EQ(judged(0.5, 0.4, 0.3), kNotSeen);
}

TEST(StartVerdict, OfOneStepLooksAtBothPowers) {
  const auto judged = [](double fixup, double by_rule) { return verdict_of("C24", {{"Fixup", {fixup}}, {"rule", {by_rule}}}); };
  EXPECT_EQ(judged(0.05, 0.9), kSeen);
  EXPECT_EQ(judged(0.4, 0.9), kMixed);
  EXPECT_EQ(judged(0.05, 0.1), kMixed);
  EXPECT_EQ(judged(0.4, 0.1), kNotSeen);
}

TEST(StartVerdict, OfExpandedSkipsAsksForPowersAndABound) {
  const auto judged = [](double without, double with) {
    Numbers numbers{{"recursive", {with}}};
    for (const char* factor : {"0.5", "1", "2", "3"}) {
      numbers.push_back({concat("without norm, ", factor), {without}});
      numbers.push_back({concat("with norm, ", factor), {with}});
    }
    return verdict_of("C25", numbers);
  };
  EXPECT_EQ(judged(1.1, 2), kSeen);
  EXPECT_EQ(judged(4, 2), kMixed);
  EXPECT_EQ(judged(1.1, 40), kMixed);
  EXPECT_EQ(judged(4, 40), kNotSeen);
}

}  // namespace
}  // namespace addnorm
