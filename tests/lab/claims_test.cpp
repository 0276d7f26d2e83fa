// Claims: what is registered, that verdicts follow from numbers, and every claim that looks at initialisation only.
#include "addnorm/lab/claim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "addnorm/core/parallel.h"
#include "core/json.h"
#include "lab/made_up.h"
#include "lab/small_runs.h"
#include "lab/statistics.h"
#include "support/folder.h"
#include "support/sanitizer.h"

namespace addnorm {
namespace {

/// Stacks this small are faster on one thread, as the tool runs them.
[[maybe_unused]] const bool kOnOneThread = [] {
  set_threads(1);
  return true;
}();

TEST(Claims, HaveAnIdASourceAndASignatureEach) {
  std::set<std::string> ids, statements;
  std::size_t of_texts = 0;
  for (const Claim& claim : claims()) {
    SCOPED_TRACE(claim.id);
    EXPECT_TRUE(ids.insert(claim.id).second);
    EXPECT_TRUE(statements.insert(claim.statement).second);
    EXPECT_FALSE(claim.source.empty());
    EXPECT_FALSE(claim.expected.empty());
    EXPECT_TRUE(claim.statement.ends_with('.'));
    EXPECT_TRUE(claim.measure && claim.judge);
    EXPECT_EQ(claim.command(), "addnorm lab claims --only " + claim.id);
    if (claim.kind() == ClaimKind::statement) {
      EXPECT_NE(claim.source.find("text 00"), std::string::npos);
      EXPECT_EQ(claim.id, concat("S", ++of_texts < 10 ? "0" : "", of_texts));  // in the order of the texts, none left out
    }
    if (claim.trains) {
      EXPECT_GE(claim.seeds, 3u);
    }
  }
  EXPECT_GE(of_texts, 38u);
}

TEST(Claims, OfAllFourTextsAreThere) {
  for (const char* text : {"text 000", "text 001", "text 002", "text 003"})
    EXPECT_TRUE(std::ranges::any_of(claims(), [&](const Claim& c) { return c.source.starts_with(text); })) << text;
  for (int question = 1; question <= 8; ++question)
    EXPECT_TRUE(std::ranges::any_of(claims(), [&](const Claim& c) {
      return c.source == concat("text 001, question ", question);
    })) << question;
  EXPECT_FALSE(left_out_statements().empty());
  EXPECT_FALSE(left_out_claims().empty());
}

TEST(Claims, AreFoundByTheirIdInAnySpelling) {
  EXPECT_EQ(claim_named("s7").id, "S07");
  EXPECT_EQ(claim_named("S07").id, "S07");
  EXPECT_EQ(claim_named("C03").id, "C3");
  try {
    claim_named("S99");
    FAIL() << "S99 is none";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("unknown claim 'S99'"), std::string::npos) << text;
    EXPECT_NE(text.find("S01, S02"), std::string::npos) << text;
  }
}

// Verdicts

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

TEST(Verdict, OfPublishedClaimsIsSeenMixedOrNotSeen) {
  const auto told = [](double post, double pre) {
    Numbers numbers{{"post-ln", {post}}, {"pre-ln", {pre}}, {"pre-ln-nofinal", {0}}};
    for (const char* name : {"post-ln", "pre-ln", "pre-ln-nofinal"}) numbers.push_back({concat(name, ", usual model"), {0}});
    return verdict_of("C3", numbers);
  };
  EXPECT_EQ(told(0.02, -0.53), "seen at this scale");
  EXPECT_EQ(told(0.4, -0.53), "mixed");
  EXPECT_EQ(told(0.4, 0.4), "not seen");
}

// Published claims that train

/// Losses do not decide where shares of trained runs do.
void add_share(Numbers& numbers, const std::string& name, double trained) {
  numbers.push_back({name, {trained == 1 ? 0.4 : 2.8}});
  numbers.push_back({name + ", trained", {trained}});
}
/// The same share at every rate of the grid but the last, where everything fails.
void add_line_of(Numbers& numbers, const std::string& line, double trained) {
  for (const char* rate : {" at 0.001", " at 0.003"}) add_share(numbers, line + rate, trained);
  add_share(numbers, line + " at 0.005", 0);
}

TEST(Verdict, OfDegradationNeedsSkipsThatKeepTheLoss) {
  const auto told = [](std::vector<double> plain, std::vector<double> residual) {
    return verdict_of("C1", {{"plain 20", {1, 1.1}},
                             {"plain 56", std::move(plain)},
                             {"residual 20", {0.5, 0.52}},
                             {"residual 56", std::move(residual)},
                             {"gradient of plain 56", {0.8, 0.9}}});
  };
  EXPECT_EQ(told({2, 2.1}, {0.51, 0.52}), "seen at this scale");
  EXPECT_EQ(told({2, 2.1}, {0.7, 0.71}), "mixed");
  EXPECT_EQ(told({1.05, 2.1}, {0.5, 0.52}), "not seen");
}

TEST(Verdict, OfWarmUpAndRAdamNeedsARateThatTellsThemApart) {
  const auto told = [](double post, double warm, double pre, double radam) {
    Numbers numbers;
    add_line_of(numbers, "post-LN", post);
    add_line_of(numbers, "post-LN with warm-up", warm);
    add_line_of(numbers, "post-LN with RAdam", radam);
    add_line_of(numbers, "pre-LN", pre);
    add_line_of(numbers, "pre-LN with warm-up", 1);
    add_line_of(numbers, "pre-LN with RAdam", 1);
    return verdict_of("C6", numbers);
  };
  EXPECT_EQ(told(0, 1, 1, 1), "seen at this scale");
  EXPECT_EQ(told(0, 1, 1, 0.5), "mixed");
  EXPECT_EQ(told(1, 1, 1, 1), "not seen");
  EXPECT_EQ(told(0, 0.5, 1, 1), "not seen");
  EXPECT_EQ(told(0, 1, 0, 1), "not seen");
}

TEST(Verdict, OfRAdamLooksAtEveryRateWhereWarmUpDecides) {
  const auto told = [](double adam, double radam, double radam_at_the_second) {
    Numbers numbers;
    add_line_of(numbers, "Adam", adam);
    add_line_of(numbers, "Adam with warm-up", 1);
    add_share(numbers, "RAdam at 0.001", radam);
    add_share(numbers, "RAdam at 0.003", radam_at_the_second);
    add_share(numbers, "RAdam at 0.005", 0);
    return verdict_of("C34", numbers);
  };
  EXPECT_EQ(told(0, 1, 1), "seen at this scale");
  EXPECT_EQ(told(0, 1, 0), "mixed");
  EXPECT_EQ(told(0, 0, 0), "not seen");
  EXPECT_EQ(told(1, 1, 1), "not seen");  // nothing was to be made up for
}

TEST(Verdict, OfAdafactorTellsWhetherItIsTheClipping) {
  const auto told = [](double adam, double clipped, double unclipped) {
    Numbers numbers;
    add_line_of(numbers, "Adam", adam);
    add_line_of(numbers, "Adam with warm-up", 1);
    add_line_of(numbers, "Adafactor", clipped);
    add_line_of(numbers, "Adafactor without clipping", unclipped);
    return verdict_of("C35", numbers);
  };
  EXPECT_EQ(told(0, 1, 0), "seen at this scale");
  EXPECT_EQ(told(0, 1, 1), "mixed");
  EXPECT_EQ(told(0, 0, 0), "not seen");
  EXPECT_EQ(told(1, 1, 0), "not seen");
}

TEST(Verdict, OfFewerStepsComparesEachAtItsBestRate) {
  const auto told = [](double pre, double trained) {
    Numbers numbers;
    for (const char* rate : {" at 0.0005", " at 0.001", " at 0.002", " at 0.004"}) {
      const bool best = std::string_view(rate) == " at 0.002";
      numbers.push_back({concat("pre-ln", rate), {best ? pre : 301, best ? pre + 2 : 301}});
      numbers.push_back({concat("pre-ln", rate, ", trained"), {best ? trained : 0}});
      numbers.push_back({concat("post-ln", rate), {best ? 200.0 : 301, best ? 210.0 : 301}});
      numbers.push_back({concat("post-ln", rate, ", trained"), {best ? 1.0 : 0}});
    }
    return verdict_of("C7", numbers);
  };
  EXPECT_EQ(told(120, 1), "seen at this scale");
  EXPECT_EQ(told(190, 1), "mixed");
  EXPECT_EQ(told(204, 1), "not seen");
  EXPECT_EQ(told(120, 0.5), "not seen");
}

TEST(Verdict, OfDeepEncodersNeedsBothFormsOfDlcl) {
  const auto told = [](double post, double pre, double dlcl_post) {
    Numbers numbers;
    add_share(numbers, "post-ln", post);
    add_share(numbers, "pre-ln", pre);
    add_share(numbers, "dlcl-pre", 1);
    add_share(numbers, "dlcl-post", dlcl_post);
    return verdict_of("C8", numbers);
  };
  EXPECT_EQ(told(0, 1, 1), "seen at this scale");
  EXPECT_EQ(told(0, 1, 0.5), "mixed");
  EXPECT_EQ(told(1, 1, 1), "not seen");
  EXPECT_EQ(told(0, 0, 1), "not seen");
}

TEST(Verdict, OfEighteenLayersNeedsPostLnToTrainAtSix) {
  const auto told = [](double post, double six, double admin, double keel) {
    Numbers numbers;
    add_share(numbers, "post-ln", post);
    add_share(numbers, "post-ln, 6 layers", six);
    add_share(numbers, "admin", admin);
    add_share(numbers, "keel", keel);
    for (const char* name : {"pre-ln", "admin-const", "deepnorm", "b2t"}) add_share(numbers, name, 1);
    return verdict_of("C9", numbers);
  };
  EXPECT_EQ(told(0, 1, 1, 1), "seen at this scale");
  EXPECT_EQ(told(0, 1, 1, 0), "mixed");
  EXPECT_EQ(told(0, 1, 0, 1), "not seen");
  EXPECT_EQ(told(0, 0, 1, 1), "not seen");
  EXPECT_EQ(told(1, 1, 1, 1), "not seen");
}

TEST(Verdict, OfEvenUpdatesNeedsARunThatFails) {
  const auto told = [](double trained, double gradients, double updates) {
    Numbers numbers{{"gradients", {gradients}}, {"updates", {updates}}};
    add_share(numbers, "loss", trained);
    return verdict_of("C12", numbers);
  };
  EXPECT_EQ(told(0, 9, 1.2), "seen at this scale");
  EXPECT_EQ(told(0, 1.5, 1.2), "mixed");
  EXPECT_EQ(told(0, 9, 5), "not seen");
  EXPECT_EQ(told(1, 9, 1.2), "not seen");
}

TEST(Verdict, OfDeepNormLooksAtLossesAndAtOneStep) {
  const auto told = [](double deepnorm, double post, double power) {
    return verdict_of("C13", {{"deepnorm 100", {0.5}},
                              {"deepnorm 200", {deepnorm}},
                              {"post-ln 100", {0}},
                              {"post-ln 200", {post}},
                              {"deepnorm, power", {power}},
                              {"post-ln, power", {0.5}},
                              {"deepnorm, power with norms and biases", {0.8}},
                              {"post-ln, power with norms and biases", {0.8}}});
  };
  EXPECT_EQ(told(0.4, 0, 0.1), "seen at this scale");
  EXPECT_EQ(told(0.4, 0, 0.5), "mixed");
  EXPECT_EQ(told(0.05, 0, 0.1), "not seen");
  EXPECT_EQ(told(std::nan(""), 0, 0.1), "not seen");
  EXPECT_EQ(told(0.4, 0.3, 0.1), "not seen");
}

TEST(Verdict, OfReZeroCountsStepsAndLooksAt128Layers) {
  const auto told = [](double steps, double deep) {
    Numbers numbers{{"128 layers", {deep}}};
    for (const char* rate : {" at 0.001", " at 0.002", " at 0.004"}) {
      const bool best = std::string_view(rate) == " at 0.002";
      numbers.push_back({concat("pre-ln", rate), {best ? 100.0 : 150}});
      numbers.push_back({concat("rezero", rate), {best ? steps : 301}});
      for (const char* name : {"pre-ln", "rezero"})
        numbers.push_back({concat(name, rate, ", held out"), {best ? 2.1 : std::nan("")}});
    }
    return verdict_of("C14", numbers);
  };
  EXPECT_EQ(told(60, 0.5), "seen at this scale");
  EXPECT_EQ(told(60, 0), "mixed");
  EXPECT_EQ(told(90, 0.5), "mixed");
  EXPECT_EQ(told(90, std::nan("")), "not seen");
}

TEST(Verdict, OfPreAndPostLnAtTheirBestMayBeNoDifference) {
  const auto told = [](double pre) {
    Numbers numbers;
    for (const char* rate : {" at 0.0005", " at 0.001", " at 0.002", " at 0.004"}) {
      const double worse = std::string_view(rate) == " at 0.001" ? 0 : std::nan("");
      numbers.push_back({concat("post-ln", rate), {2.1 + worse, 2.12, 2.14}});
      numbers.push_back({concat("pre-ln", rate), {pre + worse, pre + 0.02, pre + 0.04}});
    }
    return verdict_of("C37", numbers);
  };
  EXPECT_EQ(told(2.3), "seen at this scale");
  EXPECT_EQ(told(2.11), "mixed");
  EXPECT_EQ(told(1.9), "not seen");
}

// Everything that takes no training, as it comes out here. Three seeds instead of ten.

const std::map<std::string, std::string>& pinned() {
  static const std::map<std::string, std::string> all{{"S02", "true"},
                                                      {"S04", "true"},
                                                      {"S05", "true"},
                                                      {"S06", "true only if"},
                                                      {"S08", "true"},
                                                      {"S10", "true only if"},
                                                      {"S11", "true only if"},
                                                      {"S12", "true only if"},
                                                      {"S13", "true only if"},
                                                      {"S17", "true only if"},
                                                      {"S18", "true"},
                                                      {"S19", "false"},
                                                      {"S20", "false"},
                                                      {"S21", "false"},
                                                      {"S22", "false"},
                                                      {"S24", "true"},
                                                      {"S25", "true"},
                                                      {"S26", "false"},
                                                      {"S27", "true"},
                                                      {"S29", "true only if"},
                                                      {"S30", "true"},
                                                      {"S31", "true"},
                                                      {"S33", "true"},
                                                      {"S34", "true only if"},
                                                      {"S35", "true"},
                                                      {"S36", "true only if"},
                                                      {"S37", "false"},
                                                      {"S39", "true"},
                                                      {"S40", "true"},
                                                      {"S41", "true"},
                                                      {"S44", "false"},
                                                      {"S48", "false"},
                                                      {"S57", "true only if"},
                                                      {"S63", "true"},
                                                      {"S64", "true"},
                                                      {"S65", "true"},
                                                      {"S66", "true"},
                                                      {"S67", "true only if"},
                                                      {"S68", "true"},
                                                      {"S70", "false"},
                                                      {"S71", "true"},
                                                      {"S72", "true only if"},
                                                      {"S73", "true"},
                                                      {"S74", "true only if"},
                                                      {"C2", "seen"},
                                                      {"C5", "seen"},
                                                      {"C10", ""},
                                                      {"C11", "seen"},
                                                      {"C15", "mixed"},
                                                      {"C19", "seen"},
                                                      {"C22", "seen"},
                                                      {"C24", "seen"},
                                                      {"C25", "seen"},
                                                      {"C3", ""},
                                                      {"C4", ""}};
  return all;  // "": near its own line, so that three seeds do not decide; numbers are looked at below
}

const ClaimResult& result_of(const std::string& id) {
  static std::map<std::string, ClaimResult> all;
  auto found = all.find(id);
  if (found == all.end()) found = all.emplace(id, run_claim(claim_named(id), {.seeds = 3})).first;
  return found->second;
}

TEST(Claims, AtInitialisationComeOutAsTheyAreKnownTo) {
  for (const Claim& claim : claims()) {
    if (claim.trains) continue;
    SCOPED_TRACE(claim.id);
    ASSERT_TRUE(pinned().contains(claim.id)) << "pin its verdict in this test";
    const ClaimResult& result = result_of(claim.id);
    const std::string& want = pinned().at(claim.id);
    if (want == "true")
      EXPECT_EQ(result.verdict_text, want) << result.verdict.measured;
    else
      EXPECT_TRUE(result.verdict_text.starts_with(want)) << result.verdict_text << ": " << result.verdict.measured;
    EXPECT_LT(result.cpu_seconds, test::kSanitized ? 600 : 30);
  }
}

TEST(Claims, HaveTheNumbersThatFormulasPredict) {
  const auto mean = [](const char* id, const char* name) { return result_of(id).values.mean(name); };
  EXPECT_NEAR(mean("S12", "post-ln") / std::pow(2, -12), 1, 0.25);  // 24 norms, each 1/sqrt(2)
  EXPECT_NEAR(mean("S41", "pre-ln-nofinal growth"), 0.5, 0.1);      // sqrt(1 + n)
  EXPECT_NEAR(mean("S48", "post-LN, branch"), 0.5, 0.02);           // 1 / (1 + 1)
  EXPECT_NEAR(mean("S48", "pre-LN, branch"), 1.0 / 19, 0.01);       // 1 / (1 + n), n about 18
  EXPECT_NEAR(mean("S63", "batch norm, power of the size"), -0.5, 0.1);
  EXPECT_NEAR(mean("S67", "eps 0.01, sd 0.1"), 0.5, 1e-3);  // v / (v + eps)
  EXPECT_NEAR(mean("S67", "eps 0.01, sd 1"), 1 / 1.01, 1e-6);
  EXPECT_NEAR(mean("S73", "residual") / std::pow(2, 12), 1, 0.3);  // the variance doubles in each unit
  EXPECT_NEAR(mean("C3", "pre-ln"), -0.5, 0.25);
  EXPECT_NEAR(mean("C5", "post-LN, sum before the norm"), 1.5, 0.1);
  EXPECT_NEAR(mean("C10", "post-ln, power"), 1, 0.3);
  EXPECT_LT(mean("C10", "pre-ln, power"), 0.6);
  EXPECT_NEAR(mean("C11", "post-ln, newest branch"), 0.5, 0.05);
  EXPECT_NEAR(mean("C19", "peri-ln, slope"), 1, 0.15);
}

// What is told of a claim

TEST(ClaimResult, IsToldAsJson) {
  const Json json = parsed(to_json(claim_named("S11"), result_of("S11")), "S11");
  for (const char* name : {"id", "claim", "source", "measured", "expected", "verdict", "command", "version", "kind"})
    EXPECT_TRUE(json[name].is_string() && !json[name].text().empty()) << name;
  EXPECT_TRUE(json["seconds"].is_number());
  EXPECT_EQ(json["id"].text(), "S11");
  EXPECT_EQ(json["seeds"].integer(), 3);
  ASSERT_EQ(json["values"].size(), 2u);
  EXPECT_EQ(json["values"][0]["name"].text(), "x + F");
  EXPECT_EQ(json["values"][0]["seeds"].integer(), 3);
  ClaimResult broken{.values = made_up({{"loss", {std::nan("")}}}), .verdict_text = "false"};
  const Json told = parsed(to_json(claim_named("S01"), broken), "S01");
  EXPECT_TRUE(told["values"][0]["mean"].is_null());
}

TEST(Samples, TellMeanAndSpread) {
  const Samples s = made_up({{"a", {1, 2, 3}}, {"b", {5, 5}}, {"c", {0.5, 0.5 + 1e-15}}, {"n", {1, std::nan("")}}});
  EXPECT_EQ(s.text("a"), "2 ± 1");
  EXPECT_EQ(s.text("b"), "5");
  EXPECT_EQ(s.text("c"), "0.5");
  EXPECT_EQ(s.least("a"), 1);
  EXPECT_EQ(s.most("a"), 3);
  EXPECT_TRUE(std::isnan(s.most("n")) && std::isnan(s.least("n")));
  EXPECT_EQ(figure_text(4078.3), "4078");
  EXPECT_EQ(figure_text(123456), "123456");
  EXPECT_EQ(figure_text(2.5e-7), "2.5e-07");
  EXPECT_THROW(s.mean("d"), UsageError);
}

TEST(ClaimStatistics, FitPowersAndRanks) {
  const std::vector<double> x{1, 2, 4, 8}, square{3, 12, 48, 192}, falling{9, 7, 7, 1};
  EXPECT_NEAR(lab::fitted_power(x, square), 2, 1e-12);
  EXPECT_NEAR(lab::fitted_line(x, std::vector<double>{5, 7, 11, 19}).slope, 2, 1e-12);
  EXPECT_NEAR(lab::spearman(x, square), 1, 1e-12);
  EXPECT_NEAR(lab::spearman(x, falling), -std::sqrt(0.9), 1e-12);
  EXPECT_EQ(lab::median_of(std::vector<double>{4, 1, 3}), 3);
  EXPECT_EQ(lab::deviation_of(std::vector<double>{4}), 0);
}

// Running

TEST(Claims, RefuseWhatCannotBe) {
  EXPECT_THROW(run_claim(claim_named("S11"), {.scale = 0}), UsageError);
  EXPECT_THROW(run_claim(claim_named("S11"), {.seeds = 5000}), UsageError);
}

TEST(Claims, StopWhenAsked) {
  int asked = 0;
  EXPECT_THROW(run_claim(claim_named("S01"), {.seeds = 1, .go_on = [&] { return ++asked < 4; }}), ClaimStopped);
  EXPECT_EQ(asked, 4);
}

TEST(SmallRuns, AreTakenFromWhereTheyWereKept) {
  const test::TemporaryFolder folder;
  lab::SmallRun run = lab::mixture_run("pre-ln", 2);
  run.steps = 12;
  const ClaimContext context{.seeds = {1, 2}, .runs = folder.path / "runs"};
  const auto first = lab::run_seeds(run, context);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path / "runs"))
    files += entry.path().extension() == ".json" ? 1u : 0u;
  EXPECT_EQ(files, 2u);
  const auto again = lab::run_seeds(run, context);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].losses, first[0].losses);
  EXPECT_NE(first[0].losses, first[1].losses);
  EXPECT_EQ(first[0].losses.size(), 12u);
  EXPECT_GT(first[0].steps_to(0), 12);
}

}  // namespace
}  // namespace addnorm
