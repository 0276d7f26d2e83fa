// What a grid says of factors: which rows differ in placement alone, what cures a row that failed; of results that nobody ran.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "addnorm/lab/grid_result.h"
#include "addnorm/residual/catalogue.h"
#include "lab/grid/changes.h"
#include "lab/outcome/confirm.h"
#include "lab/refusals.h"

namespace addnorm {
namespace {

/// Rows of 12 layers on the built-in language, three seeds each.
struct Crossed : testing::Test {
  struct Start {
    std::string init;
    double embedding = 0;  ///< 0: of the rule
    std::size_t warmup = 0;
    std::size_t layers = 12;
  };
  std::size_t add(const std::string& arrangement, const Start& start, bool trains, double loss = 2.0) {
    Json options{{"arrangement", arrangement}, {"layers", start.layers}, {"d_model", 64}, {"lr", 0.001}, {"steps", 300}};
    options["warmup_steps"] = start.warmup;
    options["init"] = start.init;
    if (start.embedding > 0) options["embedding_std"] = start.embedding;
    RowResult row{.row = {.options = options.dump(), .seeds = 3, .place = "g"}, .options = options.dump()};
    row.arrangement = arrangement;
    ModelConfig model{.layers = start.layers, .d_model = 64, .arrangement = arrangement, .init = {.rule = start.init}};
    if (start.embedding > 0) model.init.embedding_std = start.embedding;
    row.start = start_text(model);
    row.label = concat(arrangement, ", ", row.start.weights_in_words, start.warmup > 0 ? ", warm-up" : "");
    if (start.layers != 12) row.label += concat(", ", start.layers, " layers");
    if (start.embedding > 0) row.label += concat(", embeddings ", row.start.embeddings);
    for (int seed = 0; seed < 3; ++seed) {
      row.runs.push_back(result.runs.size());
      GridRun run{.steps = 300, .work = 300, .state = RunState::done, .losses = std::vector<double>(300, 2.0)};
      run.key = std::to_string(result.runs.size());
      run.judged = {.outcome = trains ? Outcome::trained : Outcome::stuck, .loss = loss + 0.01 * seed};
      run.seconds = 10;
      if (!trains) run.cause = Cause{.kind = CauseKind::tokens_alike, .text = "so"};
      result.runs.push_back(run);
    }
    result.rows.push_back(row);
    result.spec.rows.push_back(row.row);
    return result.rows.size() - 1;
  }
  /// So many seeds, of which these trained.
  void seeds(std::size_t row, std::size_t trained, std::size_t done) {
    std::vector<std::size_t>& runs = result.rows[row].runs;
    runs.resize(done);
    for (std::size_t i = 0; i < done; ++i) result.runs[runs[i]].judged.outcome = i < trained ? Outcome::trained : Outcome::stuck;
  }
  void finish() {
    summarise(result);
    note_cures(result);
  }
  std::vector<std::string> between(std::size_t a, std::size_t b) const { return GridChanges(result).between(a, b); }
  GridResult result;
};
using Changed = std::vector<std::string>;

TEST_F(Crossed, RowsThatStartAsTheirSourcesSayDifferInThreeThings) {
  const std::size_t post = add("post-ln", {"arrangement"}, false), pre = add("pre-ln", {"arrangement"}, true);
  EXPECT_EQ(between(post, pre), (Changed{"arrangement", "weights", "embeddings"}));
  EXPECT_EQ(between(post, add("pre-ln", {"xavier"}, true)), Changed{"arrangement"});
  EXPECT_EQ(between(pre, add("post-ln", {"gpt2"}, true)), Changed{"arrangement"}) << "pre-ln starts as GPT-2 does";
}

TEST_F(Crossed, RowsAreComparedByWhatTheirStartComesTo) {
  const std::size_t xavier = add("post-ln", {"xavier"}, false);
  EXPECT_EQ(between(xavier, add("post-ln", {"arrangement"}, false)), Changed{});
  EXPECT_EQ(between(xavier, add("post-ln", {"gpt2", 0.125}, true)), Changed{"weights"}) << "1/sqrt(64) is 0.125";
  EXPECT_EQ(between(xavier, add("post-ln", {"gpt2"}, true)), (Changed{"weights", "embeddings"}));
  EXPECT_EQ(between(xavier, add("deepnorm", {"xavier"}, true)), Changed{"arrangement"}) << "beta belongs to the arrangement";
}

TEST(StartTexts, SayWeightsAfterTheRule) {
  const auto said = [](const InitOptions& init) {
    return start_text({.d_model = 64, .arrangement = "post-ln", .init = init}).weights_in_words;
  };
  EXPECT_EQ(said({.rule = "gpt2"}), "gpt2 weights");
  EXPECT_EQ(said({.rule = "gpt2", .deviation = 0.1}), "gpt2 weights of 0.1");
  EXPECT_EQ(said({.rule = "xavier", .branch_scale = 0.25}), "xavier weights, W_o and W_2 times 0.25");
  EXPECT_EQ(said({.rule = "xavier", .branch_scale = 2}), "xavier weights, W_o and W_2 times 2");
  EXPECT_EQ(said({.rule = "gpt2", .deviation = 1, .branch_scale = 1000}), "gpt2 weights of 1, W_o and W_2 times 1000");
}

TEST(StartTexts, TakeTheRulesOwnDeviationForNoDifference) {
  const auto start = [](const char* arrangement, const InitOptions& init) {
    return start_text({.d_model = 64, .arrangement = arrangement, .init = init});
  };
  EXPECT_EQ(start("post-ln", {.rule = "gpt2", .deviation = 0.02}).weights, start("pre-ln", {.rule = "gpt2"}).weights);
  EXPECT_EQ(start("pre-ln", {.deviation = 0.02}).weights_in_label, "gpt2 weights") << "as its source says";
  EXPECT_EQ(start("sub-ln", {.rule = "gpt2", .deviation = 0.02}).weights_in_label, "gpt2 weights with its own gains");
  EXPECT_EQ(start("post-ln", {.rule = "bert", .deviation = 0.03}).weights_in_label, "bert weights of 0.03");
}

TEST(StartTexts, AreTheSameWhereTheStartIs) {
  const auto start = [](const char* arrangement, const InitOptions& init) {
    return start_text({.layers = 9, .d_model = 64, .arrangement = arrangement, .init = init});
  };
  EXPECT_EQ(start("deepnorm", {}).weights, "xavier normal");
  EXPECT_EQ(start("deepnorm", {.rule = "deepnorm"}).weights, "xavier normal") << "its gains are the formula's";
  EXPECT_EQ(start("post-ln", {.rule = "deepnorm"}).weights, "deepnorm");
  EXPECT_EQ(start("post-ln", {.rule = "xavier"}).embeddings, "0.125");
  EXPECT_EQ(start("post-ln", {.rule = "t-fixup"}).embeddings, "0.0417") << "by (9L)^-1/4";
  EXPECT_EQ(start("t-fixup", {}).embeddings, "0.0417");
  EXPECT_TRUE(start("t-fixup", {}).formula_has_embeddings);
  EXPECT_FALSE(start("post-ln", {.rule = "t-fixup"}).formula_has_embeddings);
  EXPECT_EQ(start("post-ln", {}).rule, "xavier");
  EXPECT_EQ(start("pre-ln", {.branch_scale = 0.5}).rule, "gpt2");
  EXPECT_EQ(start("deepnorm", {}).rule, "") << "no rule of the table is Xavier's normal one";
}

TEST(StartTexts, NameTheRuleThatIsAskedForBesideTheGainsOfTheFormula) {
  const auto start = [](const char* arrangement, const InitOptions& init) {
    return start_text({.layers = 9, .d_model = 64, .arrangement = arrangement, .init = init});
  };
  EXPECT_EQ(start("deepnorm", {}).weights_in_label, "deepnorm weights with its own gains");
  EXPECT_EQ(start("deepnorm", {.rule = "deepnet"}).weights_in_label, "deepnorm weights with its own gains");
  EXPECT_EQ(start("deepnorm", {.rule = "gpt2"}).weights_in_label, "gpt2 weights with its own gains");
  EXPECT_EQ(start("deepnorm", {.rule = "xavier"}).weights_in_label, "xavier weights with its own gains");
  EXPECT_EQ(start("deepnorm", {.rule = "xavier"}).weights_in_words, "xavier weights") << "what the rule says";
  EXPECT_EQ(start("t-fixup", {}).weights_in_label, "t-fixup weights with its own gains");
  EXPECT_EQ(start("t-fixup", {.rule = "gpt2"}).weights_in_label, "gpt2 weights with its own gains");
  EXPECT_EQ(start("sub-ln", {.rule = "gpt2", .deviation = 0.1}).weights_in_label, "gpt2 weights of 0.1 with its own gains");
  EXPECT_EQ(start("post-ln", {.rule = "deepnorm"}).weights_in_label, "deepnorm weights");
  EXPECT_EQ(start("rezero", {.rule = "xavier"}).weights_in_label, "xavier weights");
  for (const char* name : {"deepnorm", "t-fixup", "rezero", "admin"}) EXPECT_TRUE(start(name, {}).own_start) << name;
  for (const char* name : {"post-ln", "pre-ln", "norm-skip", "plain"}) EXPECT_FALSE(start(name, {}).own_start) << name;
}

TEST(StartTexts, DistinguishOwnRows) {
  const auto weights = [](const char* name, const char* more) {
    ModelConfig config{.d_model = 64, .arrangement = name};
    config.own_arrangement =
        arrangement_from_json(concat(R"({"name": ")", name, R"(", "unit": {"post": true}, )", more, "}"), "row");
    return start_text(config).weights;
  };
  EXPECT_NE(weights("mine", R"("init": {"base": "fan_in_normal"})"),
            weights("yours", R"("init": {"base": "normal", "deviation": 0.1})"));
}

TEST(StartTexts, SayWhatIsDrawnWhereNoRuleOfTheTableDrawsIt) {
  const auto start = [](const std::string& init) {
    ModelConfig config{.d_model = 64, .arrangement = "mine"};
    config.own_arrangement =
        arrangement_from_json(concat(R"({"name": "mine", "unit": {"post": true}, "init": )", init, "}"), "row");
    return start_text(config);
  };
  EXPECT_EQ(start(R"({"name": "n", "base": "normal", "deviation": 0.1})").weights_in_words, "normal weights of 0.1");
  EXPECT_EQ(start(R"({"name": "n", "base": "normal", "deviation": 0.2})").weights, "normal of 0.2") << "the same name";
  EXPECT_EQ(start(R"({"name": "n", "base": "normal", "deviation": 0.02})").weights, "bert") << "which draws the same";
  EXPECT_EQ(start(R"({"base": "xavier_normal", "gains": [{"roles": ["attention_out", "ffn_out"], "gain": 0.5}]})").weights,
            "xavier normal, W_o W_2 times 0.5");
  EXPECT_EQ(start(R"({"base": "fan_in_normal"})").rule, "");

  const auto embeddings = [&](const std::string& base) {
    return start(concat(R"({"draws": [{"roles": ["token_embedding", "position_embedding"], "base": ")", base, "\"}]}")).token_std;
  };
  EXPECT_NEAR(embeddings("fan_in_uniform").value(), 0.125 / std::sqrt(3), 1e-12) << "U(-b, b) has b / sqrt(3)";
  EXPECT_NEAR(embeddings("small_normal").value(), 0.125 * std::sqrt(0.4), 1e-12);
  EXPECT_NEAR(embeddings("fan_in_normal").value(), 0.125, 1e-12);
}

TEST(StartTexts, SayTheDeviationThatHoldsOnce) {
  const auto start = [](double deviation) {
    ModelConfig config{.d_model = 64, .arrangement = "mine", .init = {.deviation = deviation}};
    config.own_arrangement =
        arrangement_from_json(R"({"name": "mine", "unit": {"post": true}, "init": {"base": "normal", "deviation": 0.1, "gains": )"
                              R"([{"roles": ["attention_out", "ffn_out"], "gain": "inv-sqrt-2-layers"}]}})",
                              "row");
    return start_text(config);
  };
  EXPECT_EQ(start(0.1).weights_in_label, "normal weights of 0.1, W_o W_2 times 1/√(2L)");
  EXPECT_EQ(start(0.05).weights_in_label, "normal weights of 0.05, W_o W_2 times 1/√(2L)");
  EXPECT_EQ(start(0.05).weights, "normal of 0.05, W_o W_2 times 1/√(2L)");
  EXPECT_EQ(start(0.02).weights, "gpt2") << "which draws the same";
}

TEST(StartTexts, NameARuleOnlyWhereTheFormulaTookNothingFromIt) {
  const auto rule = [](const char* arrangement, const char* init) {
    return start_text({.layers = 9, .d_model = 64, .arrangement = arrangement, .init = {.rule = init}}).rule;
  };
  EXPECT_EQ(rule("deepnorm", "deepnorm"), "") << "what is left is Xavier's normal one";
  EXPECT_EQ(rule("deepnorm", "gpt2"), "bert") << "without the gains in whose place its own stand";
  EXPECT_EQ(rule("deepnorm", "xavier"), "xavier");
  EXPECT_EQ(rule("post-ln", "deepnorm"), "deepnorm");
  EXPECT_EQ(rule("pre-ln", "megatron"), "gpt2");
}

TEST_F(Crossed, RowsThatDrawAlmostTheSameDiffer) {
  const std::size_t one = add("post-ln", {"gpt2", 0.1234}, true), other = add("post-ln", {"gpt2", 0.12341}, true);
  EXPECT_EQ(between(one, other), Changed{"embeddings"});
}

TEST_F(Crossed, CuresAreFoundOneFactorAtATime) {
  const std::size_t failed = add("post-ln", {"xavier"}, false, 3.4);
  add("pre-ln", {"xavier"}, true);
  add("post-ln", {"gpt2"}, true);  // two factors: no cure of either
  finish();
  ASSERT_EQ(result.rows[failed].tried.size(), 1u);
  EXPECT_EQ(result.rows[failed].tried[0].factor, "placement");
  EXPECT_EQ(result.rows[failed].tried[0].change, "pre-ln");
  add("post-ln", {"gpt2", 0.125}, true);
  add("post-ln", {"xavier", 0, 200}, false, 3.4);
  finish();
  ASSERT_EQ(result.rows[failed].tried.size(), 3u);
  EXPECT_EQ(result.rows[failed].tried[1].change, "gpt2 weights");
  EXPECT_TRUE(result.rows[failed].tried[1].cures());
  EXPECT_EQ(result.rows[failed].tried[2].change, "200 warm-up steps");
  EXPECT_FALSE(result.rows[failed].tried[2].cures());
}

TEST_F(Crossed, AnArrangementWithAStartOfItsOwnIsNoCureByPlacementAlone) {
  const std::size_t failed = add("post-ln", {"xavier"}, false, 3.4);
  for (const char* name : {"deepnorm", "rezero"}) add(name, {"xavier"}, true);
  add("post-ln", {"xavier", 0, 200}, true);
  finish();
  EXPECT_EQ(result.rows[failed].tried.at(0).factor, "placement and start");
  EXPECT_EQ(result.rows[failed].tried.at(0).change, "deepnorm with its own start");
  EXPECT_EQ(findings(result).back(),
            "post-ln: 200 warm-up steps cure it; so do deepnorm and rezero, which carry a start of their own.");
  double seconds = 1000;
  const std::vector<AddedRow> added = rows_that_try_factors(result, seconds);
  ASSERT_FALSE(added.empty());
  expect_in(added[0].row.options, {R"("arrangement":"pre-ln")"});

  add("pre-ln", {"xavier"}, true);
  finish();
  std::vector<std::string> found = findings(result);
  expect_in(found.at(0), {"without warm-up it does not where pre-ln does,"});
  EXPECT_EQ(found.at(1), "pre-ln trains; so do deepnorm and rezero, which carry a start of their own; post-ln does not.");
  EXPECT_EQ(found.back(),
            "post-ln: another placement (pre-ln) and 200 warm-up steps each cure it; so do deepnorm and rezero, which carry a "
            "start of their own.");
}

TEST_F(Crossed, WhereOnlyAStartOfItsOwnHelpsItIsSaid) {
  add("post-ln", {"xavier"}, false, 3.4);
  add("norm-skip", {"xavier"}, false, 3.4);
  add("deepnorm", {"xavier"}, true);
  finish();
  const std::vector<std::string> found = findings(result);
  EXPECT_EQ(found.at(0),
            "Whether post-ln and norm-skip train is decided by placement and start together: they do not where deepnorm does.");
  EXPECT_EQ(found.at(1), "xavier weights: deepnorm, which carries a start of its own, trains; post-ln and norm-skip do not.");
  EXPECT_EQ(found.at(3),
            "post-ln (xavier weights): deepnorm, which carries a start of its own, trains; another placement (norm-skip) did not "
            "cure it.");
}

TEST_F(Crossed, WhatTakesTheStartOfAFormulaAwayIsNoCureByPlacementAlone) {
  const std::size_t failed = add("deepnorm", {"xavier"}, false, 3.4);
  add("pre-ln", {"xavier"}, true);
  finish();
  EXPECT_EQ(result.rows[failed].tried.at(0).factor, "placement and start");
  EXPECT_EQ(result.rows[failed].tried.at(0).change, "pre-ln without deepnorm's start");
  EXPECT_EQ(headline(result),
            "Whether deepnorm trains is decided by placement and start together: it does not where pre-ln does.");
  EXPECT_EQ(findings(result).back(), "deepnorm (xavier weights): another placement without its own start (pre-ln) cures it.");
}

TEST_F(Crossed, WhatTheGridDoesNotTryIsRunWithEverythingElseHeld) {
  add("post-ln", {"arrangement"}, false, 3.4);
  summarise(result);
  double seconds = 1000;
  const std::vector<AddedRow> added = rows_that_try_factors(result, seconds);
  ASSERT_EQ(added.size(), 3u);
  expect_in(added[0].row.options, {R"("arrangement":"pre-ln")", R"("init":"xavier")"});
  expect_in(added[1].row.options, {R"("arrangement":"post-ln")", R"("init":"gpt2")", R"("embedding_std":0.125)"});
  expect_in(added[2].row.options, {R"("arrangement":"post-ln")", R"("warmup_steps":200)"});
  EXPECT_LT(seconds, 1000);
  double left = 1000;
  EXPECT_EQ(rows_that_try_factors(result, left, {added[1]}).size(), 2u);
  EXPECT_GT(left, seconds) << "what is added already costs nothing";
  result.spec.with_warmup = 100;
  for (const AddedRow& row : rows_that_try_factors(result, left)) EXPECT_NE(row.factor, "warm-up") << "rows_with_warmup has one";
  result.spec.with_warmup = 0;
  seconds = 40;  // three runs of ten seconds
  EXPECT_EQ(rows_that_try_factors(result, seconds).size(), 1u);
}

TEST_F(Crossed, CopiesThatCannotKeepTheStartAreNotRun) {
  for (const char* name : {"deepnorm", "sub-ln"}) add(name, {"arrangement"}, false, 3.4);
  add("t-fixup", {"arrangement"}, false, 3.4);
  summarise(result);
  double seconds = 1000;
  std::map<std::string, std::vector<std::string>> factors;
  for (const AddedRow& one : rows_that_try_factors(result, seconds)) {
    factors[result.rows[one.instead_of].arrangement].push_back(one.factor);
    if (one.factor == "placement") expect_in(one.row.options, {R"("init":"xavier")", R"("embedding_std":0.0)"});
  }
  EXPECT_EQ(factors["deepnorm"], (Changed{"weights", "warm-up"})) << "no rule of the table is Xavier's normal one";
  EXPECT_EQ(factors["sub-ln"], (Changed{"weights", "warm-up"}));
  EXPECT_EQ(factors["t-fixup"], (Changed{"placement", "warm-up"})) << "its embeddings follow its rule";
  EXPECT_EQ(seconds, 1000 - 6 * 30);
}

TEST_F(Crossed, FindingsFollowFromTheNumbers) {
  add("post-ln", {"xavier"}, false, 3.4);
  add("norm-skip", {"xavier"}, false, 3.4);
  add("pre-ln", {"xavier"}, true);
  add("post-ln", {"gpt2"}, true);
  add("norm-skip", {"gpt2"}, true);
  add("pre-ln", {"gpt2"}, true);
  finish();
  std::vector<std::string> found = findings(result);
  ASSERT_GE(found.size(), 5u);
  EXPECT_EQ(found[0], headline(result));
  EXPECT_EQ(found[1], "xavier weights: pre-ln trains; post-ln and norm-skip do not.");
  EXPECT_EQ(found[2], "gpt2 weights: post-ln, norm-skip and pre-ln train.");
  expect_in(found[3], {"norm-skip", "did as post-ln did in 2 of 2 settings", "not as pre-ln did in 1"});
  expect_in(found[4], {"post-ln and norm-skip (xavier weights): another placement (pre-ln) cures it."});

  for (const std::size_t run : result.rows[1].runs) result.runs[run].judged = {.outcome = Outcome::trained, .loss = 2};
  finish();
  found = findings(result);
  EXPECT_EQ(found[1], "xavier weights: norm-skip and pre-ln train; post-ln does not.");
  expect_in(found[3], {"did as post-ln did in 1 of 2 settings"});

  result = {};
  for (const char* name : {"post-ln", "norm-skip", "pre-ln"}) add(name, {"xavier"}, name == std::string("pre-ln"), 3.4);
  finish();
  expect_in(findings(result).at(2), {"norm-skip", "print as pre-LN, did as post-ln did, and not as pre-ln did."});
  for (const std::size_t run : result.rows[1].runs) result.runs[run].judged = {.outcome = Outcome::trained, .loss = 2};
  finish();
  expect_in(findings(result).at(2), {"print as pre-LN, did not do as post-ln did."});
}

TEST_F(Crossed, FindingsAreWholeSentences) {
  add("post-ln", {"xavier"}, false, 3.4);
  add("norm-skip", {"xavier"}, false, 3.4);
  add("post-ln", {"xavier", 0, 200}, true);
  finish();
  const std::vector<std::string> found = findings(result);
  ASSERT_GE(found.size(), 5u);
  EXPECT_EQ(found[0],
            "Whether post-ln trains is decided by warm-up: without warm-up it does not, with 200 warm-up steps it does.");
  EXPECT_EQ(found[1], "post-ln and norm-skip do not train.") << "nothing tells it from the other setting but the warm-up";
  EXPECT_EQ(found[2], "warm-up: post-ln trains.");
  EXPECT_EQ(found[4], "post-ln: 200 warm-up steps cure it; another placement (norm-skip) did not.");
}

TEST_F(Crossed, AnArrangementThatOnlyAnotherOneCuresHasOneSentence) {
  for (const Start& start : {Start{"xavier"}, Start{"gpt2"}, Start{"gpt2", 0.125}}) {
    add("plain", start, false, 3.4);
    add("pre-ln", start, true);
  }
  add("rezero", {"xavier"}, true);
  add("plain", {"xavier", 0, 200}, false, 3.4);
  finish();
  EXPECT_EQ(
      findings(result).back(),
      "plain (in 3 settings): another placement cures it (pre-ln in 3; with a start of its own: rezero in 1); nothing else did "
      "(tried: gpt2 weights, 200 warm-up steps, embeddings of 0.125, xavier weights and embeddings of 0.02 in 1).");
}

TEST_F(Crossed, ACureIsNotClaimedWhereItFailed) {
  for (const std::size_t layers : {6u, 48u}) {
    add("plain", {"xavier", 0, 0, layers}, false, 3.4);
    add("pre-ln", {"xavier", 0, 0, layers}, layers == 6);
    add("residual", {"xavier", 0, 0, layers}, true);
  }
  finish();
  const std::vector<std::string> found = findings(result);
  EXPECT_EQ(found.at(found.size() - 2), "plain (6 layers; 48 layers): another placement cures it (residual in 2, pre-ln in 1).");
}

TEST_F(Crossed, RowsThatTheSameChangesCureInOtherSettingsHaveSentencesOfTheirOwn) {
  add("post-ln", {"xavier"}, false, 3.4);
  add("pre-ln", {"xavier"}, true);
  add("norm-skip", {"gpt2"}, false, 3.4);
  add("pre-ln", {"gpt2"}, true);
  finish();
  const std::vector<std::string> found = findings(result);
  EXPECT_EQ(found.at(found.size() - 2), "post-ln (xavier weights): another placement (pre-ln) cures it.");
  EXPECT_EQ(found.back(), "norm-skip (gpt2 weights): another placement (pre-ln) cures it.");
}

TEST_F(Crossed, FindingsSayOnHowManySeedsTheyRest) {
  const std::size_t post = add("post-ln", {"xavier"}, false, 3.4), pre = add("pre-ln", {"xavier"}, true);
  const std::size_t bare = add("residual", {"xavier"}, true), warm = add("post-ln", {"xavier", 0, 200}, true);
  seeds(post, 1, 3);
  seeds(pre, 2, 3);
  seeds(bare, 1, 1);
  seeds(warm, 1, 1);
  finish();
  const std::vector<std::string> found = findings(result);
  EXPECT_EQ(
      found.at(0),
      "Whether post-ln trains is decided by placement and by warm-up: without warm-up it does not where pre-ln and residual "
      "do (2 of 3 seeds), with 200 warm-up steps it does (1 seed).");
  EXPECT_EQ(found.at(1), "pre-ln (2 of 3 seeds) and residual (1 seed) train; post-ln (2 of 3 seeds) does not.");
  EXPECT_EQ(found.at(2), "warm-up: post-ln trains (1 seed).");
  EXPECT_EQ(found.back(),
            "post-ln: another placement (pre-ln with 2 of 3 seeds, residual with 1 seed) and 200 warm-up steps (1 "
            "seed) each cure it.");
  for (const std::size_t row : {post, pre}) seeds(row, row == pre, 1);
  finish();
  EXPECT_EQ(findings(result).at(1), "pre-ln and residual train; post-ln does not (1 seed each).");
}

// The first sentence.

TEST_F(Crossed, TheHeadlineSaysWhoseSeedsAreFew) {
  std::vector<std::size_t> failed;
  for (const char* name : {"post-ln", "norm-skip"}) failed.push_back(add(name, {"xavier"}, false, 3.4));
  add("pre-ln", {"xavier"}, true);
  seeds(failed[1], 0, 1);
  finish();
  expect_in(headline(result), {"they do not where pre-ln does (norm-skip: 1 seed)."});
  seeds(failed[0], 0, 1);
  finish();
  expect_in(headline(result), {"they do not where pre-ln does (1 seed each)."});
}

TEST_F(Crossed, TheHeadlineNamesAllThatDecides) {
  for (const Start& start : {Start{"xavier"}, Start{"gpt2", 0.125}, Start{"gpt2"}}) {
    for (const char* name : {"post-ln", "norm-skip"}) add(name, start, start.init != "xavier", 3);
    add("pre-ln", start, true);
    add("plain", start, false, 3.4);
  }
  add("residual", {"xavier"}, true);  // which nobody tried from other weights
  finish();
  EXPECT_EQ(headline(result),
            "Whether post-ln and norm-skip train is decided by placement and by weights: from xavier weights they do not where "
            "pre-ln does, from gpt2 weights all train.");
  EXPECT_EQ(findings(result).at(0), headline(result));
  add("post-ln", {"xavier", 0, 200}, true);
  add("norm-skip", {"xavier", 0, 200}, true);
  finish();
  expect_in(headline(result), {"by placement, by weights and by warm-up: from xavier weights without warm-up they do not",
                               ", with 200 warm-up steps they do."});
}

TEST_F(Crossed, TheHeadlineSaysTheOppositeOfTheOppositeNumbers) {
  for (const Start& start : {Start{"xavier"}, Start{"gpt2", 0.125}}) {
    add("post-ln", start, true);
    add("pre-ln", start, start.init == "xavier", 3);
  }
  finish();
  EXPECT_EQ(
      headline(result),
      "Whether pre-ln trains is decided by placement and by weights: from gpt2 weights it does not where post-ln does, from "
      "xavier weights both train.");
}

TEST_F(Crossed, TheHeadlineNamesOneFactorWhereOneDecides) {
  for (const Start& start : {Start{"xavier"}, Start{"gpt2", 0.125}}) {
    add("post-ln", start, false, 3.4);
    add("pre-ln", start, true);
  }
  finish();
  EXPECT_EQ(headline(result), "Whether post-ln trains is decided by placement: it does not where pre-ln does.");

  result = {};
  for (const Start& start : {Start{"xavier"}, Start{"gpt2", 0.125}})
    for (const char* name : {"post-ln", "pre-ln"}) add(name, start, start.init == "gpt2", 3);
  finish();
  EXPECT_EQ(
      headline(result),
      "Whether post-ln and pre-ln train is decided by weights: from xavier weights they do not, from gpt2 weights they do.");

  result = {};
  for (const Start& start : {Start{"xavier"}, Start{"gpt2"}})
    for (const char* name : {"post-ln", "pre-ln"}) add(name, start, start.init == "gpt2" || name[1] == 'r', 3);
  finish();
  EXPECT_EQ(
      headline(result),
      "Whether post-ln trains is decided by placement and by the start: from xavier weights and embeddings of 0.125 it does "
      "not where pre-ln does, from gpt2 weights and embeddings of 0.02 both train.");
}

TEST_F(Crossed, TheHeadlineSaysWhereItHolds) {
  for (const std::size_t layers : {6u, 24u}) {
    add("post-ln", {"xavier", 0, 0, layers}, layers == 6, 3);
    add("pre-ln", {"xavier", 0, 0, layers}, true);
  }
  finish();
  EXPECT_EQ(headline(result),
            "Whether post-ln trains is decided by placement and by depth: with 24 layers it does not where "
            "pre-ln does, with 6 layers both train.");
  add("post-ln", {"gpt2", 0.125, 0, 24}, true);
  add("pre-ln", {"gpt2", 0.125, 0, 24}, true);
  add("post-ln", {"gpt2", 0.125, 0, 96}, false, 3.4);
  finish();
  expect_in(headline(result), {"by placement, by weights and by depth: from xavier weights with 24 layers it does not"});

  result = {};
  for (const std::size_t layers : {6u, 24u}) {
    add("post-ln", {"xavier", 0, 0, layers}, false, 3.4);
    add("pre-ln", {"xavier", 0, 0, layers}, layers == 24, 3);
  }
  finish();
  EXPECT_EQ(headline(result), "Whether post-ln trains is decided by placement: it does not where pre-ln does (24 layers).");
}

TEST_F(Crossed, ThereIsNoHeadlineWhereNothingIsDecided) {
  for (const bool trains : {true, false}) {
    result = {};
    for (const char* name : {"post-ln", "pre-ln"})
      for (const char* init : {"xavier", "gpt2"}) add(name, {init, 0.125}, trains, 3);
    finish();
    EXPECT_EQ(headline(result), "");
    EXPECT_EQ(findings(result).at(0).find("Whether"), std::string::npos);
  }
}

TEST_F(Crossed, CopiesKeepTheStartOfTheirRow) {
  const std::size_t failed = add("post-ln", {"arrangement"}, false, 3.4);
  result.rows[failed].start = start_text({.d_model = 64, .arrangement = "post-ln", .init = {.branch_scale = 2}});
  summarise(result);
  double seconds = 1000;
  expect_in(rows_that_try_factors(result, seconds).at(0).row.options, {R"("arrangement":"pre-ln")", R"("init":"xavier")"});

  Json options = parsed(result.rows[failed].row.options, "g");
  options["init"] = "gpt2";
  options["init_std"] = 0.1;
  result.rows[failed].row.options = result.rows[failed].options = options.dump();
  result.rows[failed].start = start_text({.d_model = 64, .arrangement = "post-ln", .init = {.rule = "gpt2", .deviation = 0.1}});
  const GridRow xavier = rows_that_try_factors(result, seconds).at(1).row;
  expect_in(xavier.options, {R"("init":"xavier")", R"("embedding_std":0.1)"});
  EXPECT_EQ(xavier.options.find("init_std"), std::string::npos) << "Xavier's rule has none";
}

TEST_F(Crossed, WhatCannotBePaidForCostsNothing) {
  add("post-ln", {"xavier"}, false, 3.4);
  summarise(result);
  double seconds = 20;  // a copy takes 30
  EXPECT_TRUE(rows_that_try_factors(result, seconds).empty());
  EXPECT_EQ(seconds, 20);
}

TEST_F(Crossed, ComparisonsSayInWhatRowsDiffer) {
  add("pre-ln", {"gpt2"}, true, 1.9);
  add("post-ln", {"gpt2"}, true, 2.2);
  add("post-ln", {"xavier"}, true, 2.4);
  finish();
  const std::vector<std::string> lines = comparisons(result).lines;
  ASSERT_EQ(lines.size(), 2u);
  expect_in(lines[0], {"is below post-ln, gpt2 weights", "they differ in placement alone"});
  expect_in(lines[1],
            {"is below post-ln, xavier weights", "in 3 factors, placement, weights and embeddings", "none of them by itself"});
  add("post-ln", {"xavier", 0, 200}, true, 2.6);
  finish();
  expect_in(comparisons(result).lines.at(2), {"in more than 3 factors, among them placement, warm-up and weights"});
}

TEST_F(Crossed, ComparisonsSayWhoCarriesAStartOfItsOwn) {
  add("pre-ln", {"xavier"}, true, 1.9);
  add("deepnorm", {"xavier"}, true, 2.2);
  finish();
  expect_in(comparisons(result).lines.at(0), {"they differ in placement, and deepnorm carries a start of its own"});
  add("rezero", {"xavier"}, true, 1.8);
  finish();
  expect_in(comparisons(result).lines.at(0), {"they differ in placement, and rezero carries a start of its own"});
  expect_in(comparisons(result).lines.at(1), {"they differ in placement, and both carry a start of their own"});
}

}  // namespace
}  // namespace addnorm
