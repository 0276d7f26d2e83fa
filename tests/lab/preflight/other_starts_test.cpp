// Other ways to start: which are offered for which model, and that preflight advises one only where it has passed the trial.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/lab/preflight.h"
#include "lab/preflight/advice.h"
#include "lab/preflight/candidate.h"

namespace addnorm {
namespace {

ModelConfig model(const char* arrangement, InitOptions init = {}, bool tied = true) {
  return completed({.vocab = 43, .layers = 8, .d_model = 16, .heads = 2, .arrangement = arrangement, .init = init, .tied = tied});
}
std::vector<std::string> offered(const ModelConfig& config) {
  std::vector<std::string> options;
  for (const OtherStart& start : other_starts(config)) options.push_back(start.option);
  return options;
}
using Options = std::vector<std::string>;

TEST(OtherStarts, AreSaidInTheWordsOfTheCaller) {
  const std::vector<OtherStart> all = other_starts(model("post-ln"), [](const std::string& field) { return "<" + field + ">"; });
  EXPECT_EQ(all.at(0).option, "<branch_scale> 0.25");
  EXPECT_EQ(all.at(1).option, "<init> gpt2");
}

TEST(OtherStarts, WeakenTheBranchesWhereNothingScalesThemByDepth) {
  EXPECT_EQ(offered(model("post-ln")), (Options{"branch_scale 0.25", "init gpt2"}));
  EXPECT_EQ(offered(model("norm-skip", {.rule = "pytorch"})), (Options{"branch_scale 0.25", "init gpt2"}));
  EXPECT_EQ(offered(model("post-ln", {.rule = "bert"})), (Options{"branch_scale 0.25", "embedding_std 0.5"}))
      << "gpt2 would be the same";
  EXPECT_EQ(offered(model("deepnorm")), Options{}) << "its formula contains their gains";
  EXPECT_EQ(offered(model("deepnorm", {.rule = "xavier"})), Options{}) << "which stay";
  EXPECT_EQ(offered(model("res-post", {.rule = "xavier"})), Options{"init gpt2"}) << "a norm after the branch takes a factor out";
  EXPECT_EQ(offered(model("plain")), Options{}) << "no skip beside which a branch could be weak";
}

TEST(OtherStarts, WeakenBranchesThatSomebodyMadeStronger) {
  for (const double scale : {0.5, 4.0}) {
    SCOPED_TRACE(scale);
    EXPECT_EQ(offered(model("post-ln", {.branch_scale = scale})), (Options{"branch_scale 0.25", "init gpt2"}));
    EXPECT_EQ(other_starts(model("post-ln", {.branch_scale = scale})).at(0).init.branch_scale, 0.25)
        << "in place of the asked one";
  }
  for (const double scale : {0.25, 0.1})
    EXPECT_EQ(offered(model("post-ln", {.branch_scale = scale})), Options{}) << "they are as weak already";
  EXPECT_EQ(offered(model("post-ln", {.rule = "gpt2", .branch_scale = 4})), (Options{"branch_scale 1", "embedding_std 0.5"}))
      << "the rule weakens them by depth";
  EXPECT_EQ(offered(model("deepnorm", {.branch_scale = 4})), Options{"branch_scale 1"}) << "the formula does";
  EXPECT_EQ(offered(model("deepnorm", {.branch_scale = 0.5})), Options{});
  EXPECT_EQ(offered(model("res-post", {.rule = "gpt2", .branch_scale = 4})), Options{"embedding_std 0.5"})
      << "a norm after the branch takes a factor out";
}

TEST(OtherStarts, TurnToTheEmbeddingsWhereWeightsAreSmallAlready) {
  EXPECT_EQ(offered(model("post-ln", {.rule = "gpt2"})), Options{"embedding_std 0.5"});
  EXPECT_EQ(offered(model("post-ln", {.rule = "gpt2", .embedding_std = 0.1})),
            (Options{"embedding_std 0.02", "embedding_std 0.5"}))
      << "tied: it is first made smaller";
  EXPECT_EQ(offered(model("post-ln", {.rule = "gpt2", .embedding_std = 0.5})), Options{"embedding_std 0.02"});
  EXPECT_EQ(offered(model("post-ln", {.rule = "gpt2"}, false)), Options{"embedding_std 0.5"});
  EXPECT_EQ(offered(model("post-ln", {.rule = "gpt2", .embedding_std = 0.1}, false)), Options{"embedding_std 0.5"})
      << "a head of its own";
  EXPECT_EQ(offered(model("post-ln", {.rule = "gpt2", .embedding_std = 0.5}, false)), Options{});
  EXPECT_EQ(offered(model("t-fixup", {.rule = "gpt2"}, false)), Options{}) << "the formula says how embeddings start";
}

TEST(OtherStarts, KeepWhatWasAskedForBesideTheirChange) {
  const InitOptions asked{.rule = "pytorch", .embedding_std = 0.3, .position_std = 0.1};
  for (const OtherStart& start : other_starts(model("post-ln", asked))) {
    SCOPED_TRACE(start.option);
    EXPECT_EQ(start.init.embedding_std, 0.3);
    EXPECT_EQ(start.init.position_std, 0.1);
    EXPECT_NE(start.init, asked);
    EXPECT_NO_THROW(model("post-ln", start.init));
  }
  EXPECT_EQ(other_starts(model("post-ln")).at(0).init.branch_scale, 0.25);
}

TEST(OtherStarts, GoByTheDeeperStack) {
  const ModelConfig pair = completed({.model = ModelKind::seq2seq,
                                      .vocab = 43,
                                      .layers = 2,
                                      .decoder_layers = 8,
                                      .d_model = 16,
                                      .heads = 2,
                                      .arrangement = "post-ln"});
  EXPECT_EQ(other_starts(pair).at(0).option, "branch_scale 0.25");
}

PreflightRequest deep(const std::string& more) {
  return {
      .given = run_options_from_json(R"({"layers": 12, "d_model": 16, "heads": 2, "seq_len": 16, "batch_size": 4, "steps": 300,
                                            "optimizer": "adam", "lr": 0.003, "warmup_steps": 0, "arrangement": "post-ln")" +
                                         more + "}",
                                     "the test"),
      .seeds = 1};
}

/// What passes of the other starts alone.
std::vector<Advice> passing(const PreflightRequest& asked) {
  const PreparedRun p = prepared(asked, nullptr);
  const TrialGround ground = ground_of(p, asked, nullptr);
  std::vector<Advice> found;
  start_advice(ground, p.options, found);
  return found;
}

TEST(OtherStarts, AreAdvisedWhereTheyPassTheTrialAndBeforeChangesThatCostMore) {
  const PreflightResult result = preflight(deep(""));
  ASSERT_NE(result.forecast, Forecast::trains);
  const auto place = [&](const char* begin) {
    const auto starts = [&](const Advice& advice) { return advice.option.starts_with(begin); };
    return static_cast<std::size_t>(std::ranges::find_if(result.advice, starts) - result.advice.begin());
  };
  const std::size_t weaker = place("branch_scale 0.204");
  ASSERT_LT(weaker, result.advice.size());
  EXPECT_LT(weaker, place("lr "));
  EXPECT_LT(weaker, place("arrangement "));
  EXPECT_EQ(place("init "), result.advice.size()) << "the first that passes is enough";
  const Advice& advice = result.advice[weaker];
  EXPECT_EQ(advice.says, "trains");
  EXPECT_NE(advice.change.find("W_o and W_2 at 1/sqrt(2L)"), std::string::npos) << advice.change;
  EXPECT_EQ(advice.options.model.init.branch_scale, 0.204);
  EXPECT_EQ(advice.options.model.arrangement, "post-ln");
  PreflightRequest again = deep(R"(, "branch_scale": 0.204)");
  again.advice = false;
  EXPECT_EQ(preflight(again).forecast, Forecast::trains);
}

TEST(OtherStarts, AreAdvisedInPlaceOfAScaleThatWasAskedFor) {
  const std::vector<Advice> found = passing(deep(R"(, "branch_scale": 4)"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].option, "branch_scale 0.204");
}

TEST(OtherStarts, AreNotAdvisedWhereTheyFailTheTrial) {
  PreflightRequest fast = deep("");
  fast.given.options.lr = 0.01;  // too much for weak branches, too
  EXPECT_TRUE(passing(fast).empty());
}

TEST(Advice, LeavesOutArrangementsThatCannotStartAsAsked) {
  PreflightRequest asked = deep("");
  asked.given.options.model.arrangement = "pre-ln";
  asked.given.options.model.init.deviation = 0.5;
  asked.given.options.lr = 0.1;  // nothing stands that
  const PreparedRun p = prepared(asked, nullptr);
  std::vector<Advice> found;
  EXPECT_NO_THROW(other_advice(ground_of(p, asked, nullptr), p.options, found)) << "deepnorm has no init_std";
}

TEST(Advice, OfAnotherArrangementHoldsTheWeights) {
  const PreflightRequest asked = deep("");
  const PreparedRun p = prepared(asked, nullptr);
  std::vector<Advice> found;
  other_advice(ground_of(p, asked, nullptr), p.options, found);
  std::vector<std::string> placements;
  for (const Advice& advice : found)
    if (advice.option.starts_with("arrangement ")) placements.push_back(advice.option);
  EXPECT_NE(std::ranges::find(placements, "arrangement pre-ln init xavier"), placements.end())
      << "pre-ln by itself would start from GPT-2's weights: " << ::testing::PrintToString(placements);
  for (const Advice& advice : found) {
    if (advice.option.starts_with("arrangement pre-ln")) {
      EXPECT_EQ(advice.options.model.init.rule, "xavier");
    }
  }
}

TEST(OtherStarts, MakeTokenVectorsSmallerWhereATiedHeadMakesLogitsLarge) {
  const std::vector<Advice> found = passing(deep(R"(, "init": "gpt2", "embedding_std": 0.5)"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].option, "embedding_std 0.02");
  EXPECT_EQ(found[0].options.model.init.rule, "gpt2");
}

TEST(Preflight, NotesWhatArrangementAndInitAreTogether) {
  const auto notes = [](const char* more) {
    PreflightRequest asked{
        .given = run_options_from_json(
            concat(R"({"layers": 1, "d_model": 16, "heads": 2, "seq_len": 8, "batch_size": 2)", more, "}"), "the test"),
        .seeds = 1,
        .advice = false};
    return preflight(asked).notes;
  };
  const std::vector<std::string> twice = notes(R"(, "arrangement": "lns", "init": "gpt2")");
  ASSERT_EQ(twice.size(), 1);
  EXPECT_NE(twice[0].find("lns weakens its branches"), std::string::npos) << twice[0];
  EXPECT_TRUE(notes(R"(, "arrangement": "lns")").empty());
  EXPECT_TRUE(notes(R"(, "arrangement": "post-ln", "init": "gpt2")").empty());
}

}  // namespace
}  // namespace addnorm
