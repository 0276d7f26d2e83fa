// Verdicts on statements of the texts, on made-up numbers: each follows from numbers alone, and can come out another way.
#include <cmath>

#include "addnorm/core/error.h"
#include "lab/made_up.h"

namespace addnorm {
namespace {

bool only_if(const std::string& verdict) { return verdict.starts_with("true only if ") && verdict.size() > 20; }

TEST(Verdict, OfTheSkipsGradientFollowsFromBothUnits) {
  EXPECT_EQ(verdict_of("S11", {{"x + F", {1e-11}}, {"LN(x + F)", {1e-11}}}), "true");
  EXPECT_TRUE(only_if(verdict_of("S11", {{"x + F", {1e-11}}, {"LN(x + F)", {0.5}}})));
  EXPECT_EQ(verdict_of("S11", {{"x + F", {0.1}}, {"LN(x + F)", {0.5}}}), "false");
}

TEST(Verdict, OfTheIdentityDependsOnTheNormBehindTheSum) {
  EXPECT_EQ(verdict_of("S13", {{"x + F", {0}}, {"x + F(LN(x))", {0}}, {"LN(x + F)", {0}}}), "true");
  EXPECT_TRUE(only_if(verdict_of("S13", {{"x + F", {0}}, {"x + F(LN(x))", {0}}, {"LN(x + F)", {0.4}}})));
  EXPECT_EQ(verdict_of("S13", {{"x + F", {1e-7}}, {"x + F(LN(x))", {0}}, {"LN(x + F)", {0.4}}}), "false");
}

TEST(Verdict, OfTheNumberOfConnectionsCounts) {
  const auto counted = [](double cross) {
    return verdict_of("S17", {{"encoder", {2, 2}}, {"decoder only", {2, 2}}, {"decoder with cross-attention", {cross, cross}}});
  };
  EXPECT_EQ(counted(2), "true");
  EXPECT_TRUE(only_if(counted(3)));
  EXPECT_EQ(verdict_of("S17", {{"encoder", {1}}, {"decoder only", {2}}, {"decoder with cross-attention", {3}}}), "false");
}

TEST(Verdict, OfThePrintedPreLnWouldBeTrueIfItWerePreLn) {
  EXPECT_EQ(verdict_of("S22", {{"from pre-LN", {0}}, {"from post-LN of the normed input", {0.5}}}), "true");
  EXPECT_EQ(verdict_of("S22", {{"from pre-LN", {0.8}}, {"from post-LN of the normed input", {0}}}), "false");
}

TEST(Verdict, OfStabilityTellsThePrintedFormulaFromTheUsualOne) {
  const auto told = [](double post, double printed, double pre) {
    return verdict_of("S23", {{"post-ln", {3.4}},
                              {"post-ln, trained", {post}},
                              {"norm-skip", {3.4}},
                              {"norm-skip, trained", {printed}},
                              {"pre-ln", {2.1}},
                              {"pre-ln, trained", {pre}}});
  };
  EXPECT_EQ(told(0, 1, 1), "true");
  EXPECT_TRUE(only_if(told(0, 0, 1)));
  EXPECT_EQ(told(1, 1, 1), "false");
}

TEST(Verdict, OfWarmUpWouldBeTrueIfRatesFell) {
  const auto falls = [](double steps) {
    return verdict_of("S44", {{"steps of the warm-up in which the rate falls", {steps}},
                              {"first rate over highest", {1}},
                              {"rate at the end of the warm-up over highest", {0.01}}});
  };
  EXPECT_EQ(falls(99), "true");
  EXPECT_EQ(falls(0), "false");
}

TEST(Verdict, OfTheRootCauseLooksAtTheGradientBeforeTheFailure) {
  const auto told = [](double start, double trained) {
    return verdict_of("S47", {{"gradient at the start", {start}},
                              {"updates of the first 10 steps", {1}},
                              {"gradient at the end", {1e-5}},
                              {"trained", {trained}}});
  };
  EXPECT_EQ(told(7, 0), "false");
  EXPECT_EQ(told(1e-4, 0), "true");   // vanished before the first step
  EXPECT_EQ(told(1e4, 0), "true");    // exploded
  EXPECT_EQ(told(1e-4, 1), "false");  // but it trained
}

TEST(Verdict, OfDependencyTellsBranchFromStream) {
  EXPECT_EQ(verdict_of("S48", {{"post-LN, branch", {0.5}}, {"pre-LN, branch", {0.05}}}), "false");
  EXPECT_EQ(verdict_of("S48", {{"post-LN, branch", {0.02}}, {"pre-LN, branch", {0.05}}}), "true");
}

TEST(Verdict, OfUndoingTheNorm) {
  EXPECT_EQ(verdict_of("S70", {{"layer norm", {0}}, {"batch norm, running statistics", {0}}, {"LN(3x + 2) from LN(x)", {0}}}),
            "true");
  EXPECT_EQ(verdict_of("S70", {{"layer norm", {0.4}}, {"batch norm, running statistics", {0}}, {"LN(3x + 2) from LN(x)", {0}}}),
            "false");
}

TEST(Verdict, OfRunsThatBrokeOffIsNeverTrue) {
  const double nan = std::nan("");
  EXPECT_EQ(verdict_of("S50", {{"Adam", {nan}}, {"Adam, trained", {0}}, {"RAdam", {nan}}, {"RAdam, trained", {0}}}), "false");
  EXPECT_EQ(verdict_of("S07", {{"plain-ln", {3.4}}, {"post-ln", {nan}}, {"pre-ln", {nan}}}), "false");
}

}  // namespace
}  // namespace addnorm
