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

TEST(Verdict, OfTheIdentityDependsOnTheNormAfterTheSum) {
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

TEST(Verdict, OfStabilityDistinguishesThePrintedFormulaFromTheUsualOne) {
  const auto judged = [](double post, double printed, double pre) {
    return verdict_of("S23", {{"post-ln", {3.4}},
                              {"post-ln, trained", {post}},
                              {"norm-skip", {3.4}},
                              {"norm-skip, trained", {printed}},
                              {"pre-ln", {2.1}},
                              {"pre-ln, trained", {pre}}});
  };
  EXPECT_EQ(judged(0, 1, 1), "true");
  EXPECT_TRUE(only_if(judged(0, 0, 1)));
  EXPECT_EQ(judged(1, 1, 1), "not decided");
  EXPECT_EQ(judged(0, 0, 0), "false");
  EXPECT_EQ(judged(0.5, 1, 1), "not decided");
  EXPECT_TRUE(only_if(judged(0, 0.5, 1)));
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
  const auto judged = [](double start, double trained) {
    return verdict_of("S47", {{"gradient at the start", {start}},
                              {"updates of the first 10 steps", {1}},
                              {"gradient at the end", {1e-5}},
                              {"trained", {trained}}});
  };
  EXPECT_EQ(judged(7, 0), "false");
  EXPECT_EQ(judged(1e-4, 0), "true");         // vanished before the first step
  EXPECT_EQ(judged(1e4, 0), "true");          // exploded
  EXPECT_EQ(judged(1e-4, 1), "not decided");  // it trained: nothing to look at
}

TEST(Verdict, OfDependencyDistinguishesBranchFromStream) {
  EXPECT_EQ(verdict_of("S48", {{"post-LN, branch", {0.5}}, {"pre-LN, branch", {0.05}}}), "false");
  EXPECT_EQ(verdict_of("S48", {{"post-LN, branch", {0.02}}, {"pre-LN, branch", {0.05}}}), "true");
}

TEST(Verdict, OfAddAndNormSeparatesWhatSkipsCarryFromWhatBranchesCarry) {
  const auto judged = [](double skips, double all, double size) {
    Numbers numbers{{"all paths, 48 units", {all}}, {"output RMS after 24 units", {size}}};
    for (const char* units : {"2", "12", "24", "48"}) numbers.push_back({concat("skips alone, ", units, " units"), {skips}});
    return verdict_of("S72", numbers);
  };
  EXPECT_EQ(judged(0.9, 1, 1), "true");
  EXPECT_TRUE(only_if(judged(1e-7, 1, 1)));
  EXPECT_EQ(judged(1e-7, 1e-7, 1), "false");
  EXPECT_EQ(judged(0.9, 1, 2), "false");
}

TEST(Verdict, OfUndoingTheNorm) {
  EXPECT_EQ(verdict_of("S70", {{"layer norm", {0}}, {"batch norm, running statistics", {0}}, {"LN(3x + 2) from LN(x)", {0}}}),
            "true");
  EXPECT_EQ(verdict_of("S70", {{"layer norm", {0.4}}, {"batch norm, running statistics", {0}}, {"LN(3x + 2) from LN(x)", {0}}}),
            "false");
}

TEST(Verdict, OfTheCostOfPreNormNeedsBothToTrain) {
  const auto judged = [](double pre, double spread, double post_trained) {
    Numbers numbers;
    for (const char* rate : {" at 0.001", " at 0.003"}) {
      numbers.push_back({concat("post-ln", rate), {1.95, 1.96, 1.97}});
      numbers.push_back({concat("post-ln", rate, ", trained"), {post_trained}});
      numbers.push_back({concat("pre-ln", rate), {pre - spread, pre, pre + spread}});
      numbers.push_back({concat("pre-ln", rate, ", trained"), {1}});
    }
    return verdict_of("S49", numbers);
  };
  EXPECT_EQ(judged(2.1, 0.01, 1), "true");
  EXPECT_EQ(judged(1.96, 0.01, 1), "false");
  EXPECT_EQ(judged(1.98, 0.1, 1), "not decided");  // too much noise for either
  EXPECT_EQ(judged(2.1, 0.01, 0), "not decided");
  EXPECT_EQ(judged(std::nan(""), 0.01, 1), "not decided");
}

TEST(Verdict, OfGainAndBiasIsNotFalseForWantOfSeeds) {
  const auto judged = [](double without, double spread) {
    return verdict_of("S69",
                      {{"layernorm", {2.07, 2.09, 2.11}}, {"layernorm-noaffine", {without - spread, without, without + spread}}});
  };
  EXPECT_EQ(judged(2.3, 0.02), "true");
  EXPECT_EQ(judged(2.08, 0.05), "not decided");
  EXPECT_EQ(judged(2.06, 0.01), "false");
}

TEST(Verdict, OfNormsNamesTheStacksThatGainByThem) {
  const auto judged = [](double without_20, double without_56) {
    Numbers numbers;
    for (const auto& [units, loss] : {std::pair{"4", 0.03}, {"20", without_20}, {"56", without_56}}) {
      numbers.push_back({concat("without, ", units, " units"), {loss}});
      numbers.push_back({concat("without, ", units, " units, steps to 0.5"), {std::isnan(loss) ? loss : 100 * loss}});
      numbers.push_back({concat("with, ", units, " units"), {0.05}});
      numbers.push_back({concat("with, ", units, " units, steps to 0.5"), {4}});
    }
    numbers.push_back({"without, decoder", {2}});
    numbers.push_back({"with, decoder", {2.1}});
    return verdict_of("S32", numbers);
  };
  EXPECT_EQ(judged(0.2, 4), "true only if the stack is one of 20 units and 56 units; not so with 4 units and 6 decoder layers");
  EXPECT_EQ(judged(0.03, std::nan("")),
            "true only if the stack is one of 56 units; not so with 4 units and 20 units and 6 decoder layers");
  EXPECT_EQ(judged(0.03, 0.03), "false");
}

TEST(Verdict, OfTheRecursiveSkipSaysWhatWarmUpChanges) {
  const auto judged = [](double rskip, double spread) {
    return verdict_of("S54", {{"post-ln without", {3.4}},
                              {"post-ln without, trained", {0}},
                              {"rskip without", {2.1}},
                              {"rskip without, trained", {1}},
                              {"post-ln with", {2.13, 2.14, 2.15}},
                              {"post-ln with, trained", {1}},
                              {"rskip with", {rskip - spread, rskip, rskip + spread}},
                              {"rskip with, trained", {1}}});
  };
  EXPECT_EQ(judged(2.0, 0.01), "true");
  EXPECT_EQ(judged(2.14, 0.01), "true only if there is no warm-up; with it both are alike");
  EXPECT_EQ(judged(2.10, 0.10), "true only if there is no warm-up; with it the difference is not decided");
  EXPECT_EQ(judged(2.3, 0.01), "true only if there is no warm-up; with it one sum and one norm end lower");
}

TEST(Verdict, OfAdafactorComparesStepsOfTheSameSize) {
  const auto judged = [](double adafactor, double small_adam, double small_adafactor) {
    Numbers numbers{{"relative rate", {0.04}}};
    for (const auto& [name, trained] : {std::pair{"Adam", 0.0},
                                        {"Adafactor", adafactor},
                                        {"Adam by an eighth", small_adam},
                                        {"Adafactor by an eighth", small_adafactor}}) {
      numbers.push_back({name, {2.1}});
      numbers.push_back({concat(name, ", trained"), {trained}});
    }
    return verdict_of("S51", numbers);
  };
  EXPECT_EQ(judged(1, 0, 0), "true");
  EXPECT_TRUE(only_if(judged(0, 0, 1)));
  EXPECT_EQ(judged(0, 1, 1), "false");  // Adam does as well with the smaller steps
  EXPECT_EQ(judged(0.5, 1, 1), "not decided");
}

TEST(Verdict, OfRunsThatBrokeOffIsNeverTrue) {
  const double nan = std::nan("");
  EXPECT_EQ(verdict_of("S50", {{"Adam", {nan}}, {"Adam, trained", {0}}, {"RAdam", {nan}}, {"RAdam, trained", {0}}}), "false");
  EXPECT_EQ(verdict_of("S07", {{"plain-ln", {3.4}}, {"post-ln", {nan}}, {"pre-ln", {nan}}}), "false");
}

}  // namespace
}  // namespace addnorm
