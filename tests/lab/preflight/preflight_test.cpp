// Preflight on models small enough for a test: what it says, what it tries, and what it refuses.
#include "addnorm/lab/preflight.h"
#include "addnorm/lab/grid_result.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "core/figures.h"
#include "core/json/json.h"
#include "lab/preflight/candidate.h"
#include "support/near.h"

namespace addnorm {
namespace {

PreflightRequest request(const std::string& options, std::size_t seeds = 1) {
  return {.given = run_options_from_json("{" + options + "}", "the test"), .seeds = seeds};
}
const char* const kDeep =  // as small as shows it: this runs under sanitizers, too
    R"("layers": 12, "d_model": 16, "heads": 2, "seq_len": 16, "batch_size": 4, "optimizer": "adam", "lr": 0.01,
       "warmup_steps": 0, "steps": 300)";

RunOptions planned_options(const std::string& options) {
  const GivenOptions given = run_options_from_json("{" + options + "}", "the test");
  RunOptions o = planned(given, {});
  o.model.vocab = 43;
  o.model = completed(o.model);
  return o;
}

TEST(Preflight, DistinguishesADeepPostNormFromAPreNorm) {
  PreflightRequest post = request(concat(kDeep, R"(, "arrangement": "post-ln")"), 3);
  post.advice = false;
  const PreflightResult bad = preflight(post);
  EXPECT_NE(bad.forecast, Forecast::trains);
  EXPECT_EQ(bad.trials.size(), 3);
  EXPECT_NE(bad.reason.find("of 24"), std::string::npos) << bad.reason;  // the unit is named
  EXPECT_TRUE(bad.skip_gain_predicted.has_value());
  const PreflightResult good = preflight(request(concat(kDeep, R"(, "arrangement": "pre-ln")"), 3));
  EXPECT_EQ(good.forecast, Forecast::trains);
  EXPECT_TRUE(good.advice.empty());
  EXPECT_EQ(good.passed, 3);
  const StackRecord& top = good.shown().after().stacks[good.stack];  // the sentence is about the trial that is shown
  EXPECT_NE(good.reason.find(concat("(", short_figure(std::max(top.spread.back(), top.output_spread)), ")")), std::string::npos)
      << good.reason;
}

/// What an observer heard, in order.
struct Heard : PreflightObserver {
  void on_verdict(const PreflightResult& result) override {
    all.push_back(concat(name_of(result.forecast), " ", result.confidence, ": ", result.reason));
    EXPECT_TRUE(result.advice.empty());
  }
  void on_advice(const Advice& advice) override { all.push_back(advice.option); }
  std::vector<std::string> all{};
};

TEST(Preflight, AdvisesOnlyWhatHasPassedTheSameTrial) {
  Heard heard;
  const PreflightResult result = preflight(request(concat(kDeep, R"(, "arrangement": "post-ln")")), &heard);
  ASSERT_FALSE(result.advice.empty());
  std::vector<std::string> expected{concat(name_of(result.forecast), " ", result.confidence, ": ", result.reason)};
  for (const Advice& advice : result.advice) expected.push_back(advice.option);
  EXPECT_EQ(heard.all, expected);
  for (const Advice& advice : result.advice) {
    SCOPED_TRACE(advice.option);
    PreflightRequest again{.seeds = 1, .advice = false};
    again.given.options = advice.options;
    for (const char* name : {"layers", "d_model", "heads", "seq_len", "lr", "weight_decay"}) again.given.given.insert(name);
    EXPECT_EQ(preflight(again).forecast, Forecast::trains);
  }
}

TEST(Preflight, FindsARateThatIsTooSmallAndAdvisesALargerOne) {
  const char* const sturdy = R"("layers": 2, "d_model": 16, "heads": 2, "seq_len": 16, "batch_size": 8, "optimizer": "adam",
                                "warmup_steps": 0, "steps": 300, "arrangement": "pre-ln", "lr": )";
  for (const char* rate : {"0", "1e-5"}) {
    SCOPED_TRACE(rate);
    const PreflightResult slow = preflight(request(concat(sturdy, rate)));
    EXPECT_EQ(slow.forecast, Forecast::will_not_train);
    EXPECT_NE(slow.reason.find(*rate == '0' ? "hardly anything is learned" : "slow, not stuck"), std::string::npos)
        << slow.reason;
    ASSERT_EQ(slow.advice.size(), 1);
    EXPECT_GT(slow.advice[0].options.lr, 1e-4);
  }
  EXPECT_EQ(preflight(request(concat(sturdy, "0.01"))).forecast, Forecast::trains);
}

TEST(Preflight, SaysWhereItsHitRateWasNotMeasured) {
  const auto beyond = [](const char* more) {
    PreflightRequest asked = request(concat(R"("layers": 1, "d_model": 16, "heads": 2, "seq_len": 16, "batch_size": 4)", more));
    asked.advice = false;
    return preflight(asked).beyond;
  };
  EXPECT_EQ(beyond(R"(, "lr": 0.001)"), "");
  EXPECT_NE(beyond(R"(, "lr": 1e-7)").find("a rate below"), std::string::npos);
  EXPECT_NE(beyond(R"(, "lr": 1)").find("a rate above"), std::string::npos);
  EXPECT_NE(beyond(R"(, "model": "encoder")").find("masked"), std::string::npos);
  EXPECT_EQ(beyond(R"(, "lr": 0.001, "init": "gpt2", "embedding_std": 0.125, "branch_scale": 0.5)"), "");
  EXPECT_EQ(beyond(R"(, "lr": 0.001, "init": "t5")"), "started by the rule t5");
  EXPECT_EQ(beyond(R"(, "lr": 0.001, "init": "gpt2", "init_std": 0.1)"), "had weights from an init_std");
  EXPECT_EQ(beyond(R"(, "lr": 0.001, "position_std": 0.1)"), "had positions from a position_std");
  EXPECT_EQ(beyond(R"(, "lr": 0.001, "embedding_std": 2)"), "had an embedding_std above 0.5");
  EXPECT_EQ(beyond(R"(, "lr": 0.001, "embedding_std": 0.001)"), "had an embedding_std below 0.02");
  EXPECT_EQ(beyond(R"(, "lr": 0.001, "branch_scale": 2)"), "had a branch_scale above 1");
  EXPECT_EQ(beyond(R"(, "lr": 0.001, "branch_scale": 0.01)"), "had a branch_scale below 0.2");
}

TEST(Preflight, SqueezesTheWarmupAndKeepsTheRate) {
  const RunOptions o = planned_options(R"("warmup_steps": 101, "steps": 1000, "lr": 0.002, "schedule": "cosine")");
  const TrainerOptions t = trial_options(o, 7);
  EXPECT_EQ(t.schedule.warmup, 21);
  EXPECT_EQ(t.schedule.kind, ScheduleKind::constant);
  EXPECT_EQ(t.schedule.rate, 0.002);
  EXPECT_EQ(t.seed, 7);
  EXPECT_EQ(trial_options(o, 7, Pace::real).schedule.warmup, 101);
}

TEST(Preflight, SaysThatADeepStackWithoutSkipFailsWhateverItsTrialsShow) {
  PreflightRequest plain = request(
      R"("layers": 4, "d_model": 16, "heads": 2, "seq_len": 16, "batch_size": 4, "lr": 1e-5, "steps": 300, "arrangement": "plain")");
  plain.advice = false;
  const PreflightResult result = preflight(plain);
  EXPECT_EQ(result.forecast, Forecast::will_not_train);
  plain.given.options.model.layers = 1;
  EXPECT_EQ(preflight(plain).reason.find("no skip"), std::string::npos);
}

TEST(Preflight, TakesASecondLookWhereTheFirstDoesNotSettleIt) {
  PreflightRequest near = request(  // a first look cannot judge SGD
      R"("layers": 2, "d_model": 16, "heads": 2, "seq_len": 16, "batch_size": 4, "optimizer": "sgd", "lr": 0.1, "warmup_steps": 0,
         "steps": 300)",
      3);
  near.advice = false;
  const PreflightResult result = preflight(near);
  ASSERT_TRUE(result.second_look.has_value()) << result.reason;
  EXPECT_GE(result.second_look->losses.size(), 40);
  EXPECT_FALSE(result.clear);
  EXPECT_EQ(&result.shown(), &*result.second_look);
  EXPECT_TRUE(parsed(to_json(result), "preflight")["second_look"].is_object());
}

TEST(Preflight, HasItsProfilesInJson) {
  const PreflightResult result = preflight(request(R"("layers": 2, "d_model": 16, "heads": 2, "seq_len": 8, "batch_size": 4)"));
  const Json json = parsed(to_json(result), "preflight");
  for (const char* name : {"verdict", "confidence", "reason", "advice", "stream_rms", "gradient_norm", "gradient_norm_after",
                           "spread", "skip_gain_predicted", "skip_gain_measured", "output_sensitivity", "one_step_change"})
    EXPECT_TRUE(json.contains(name)) << name;
  EXPECT_EQ(json["stream_rms"].size(), 5);
  EXPECT_EQ(json["trials"][0]["losses"].size(), kTrialSteps);
}

TEST(Preflight, WorksForEveryKindOfModel) {
  const char* const tiny = R"("layers": 2, "d_model": 16, "batch_size": 4)";
  for (const char* kind : {R"("model": "lm", "task": "copy")", R"("model": "seq2seq", "task": "reverse")",
                           R"("model": "encoder")", R"("model": "mlp", "task": "mixture")"}) {
    SCOPED_TRACE(kind);
    const PreflightResult result = preflight(request(concat(tiny, ", ", kind)));
    EXPECT_EQ(result.trials.at(0).losses.size(), kTrialSteps);
    EXPECT_FALSE(result.reason.empty());
  }
}

TEST(Preflight, MeasuresTheSkipGainWhereItIsToBeBrief) {
  PreflightRequest asked = request(R"("layers": 6, "d_model": 16, "heads": 2, "seq_len": 8, "batch_size": 4, "init": "gpt2")", 2);
  asked.advice = false;
  const PreflightResult whole = preflight(asked);
  asked.brief = true;
  const PreflightResult brief = preflight(asked);
  ASSERT_TRUE(brief.skip_gain_measured.has_value());
  EXPECT_EQ(brief.skip_gain_measured, whole.skip_gain_measured);
  EXPECT_EQ(brief.trials.at(0).output_sensitivity, 0) << "which takes longer";
  EXPECT_EQ(brief.trials.at(0).losses, whole.trials.at(0).losses);
}

TEST(Preflight, ComparesLossesWithTheLabelsButThoseOfAMaskedModel) {
  const auto known = [](const char* kind) {
    const PreflightRequest asked = request(concat(R"("layers": 2, "d_model": 16, )", kind));
    return ground_of(prepared(asked, nullptr), asked, nullptr).baselines;
  };
  const auto labels = known(R"("model": "seq2seq", "task": "reverse")");
  ASSERT_TRUE(labels.has_value());
  EXPECT_GT(plateau(*labels), 3);
  EXPECT_FALSE(known(R"("model": "encoder")").has_value()) << "it stays at its plateau for many hundred steps";
}

TEST(Preflight, IsTheSameTwice) {
  const auto once = [] {
    PreflightRequest asked = request(R"("layers": 2, "d_model": 16, "heads": 2, "seq_len": 8, "batch_size": 4)");
    asked.advice = false;
    const PreflightResult r = preflight(asked);
    return r.trials.at(0).losses;
  };
  EXPECT_EQ(once(), once());
}

TEST(Preflight, RefusesNonsenseBeforeItTriesAnything) {
  EXPECT_TRUE(test::throws_saying<UsageError>([] { preflight(request(R"("d_model": 30, "heads": 4)")); }, {"heads", "30"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([] { preflight(request(R"("layers": 2)", 0)); }, {"seeds", "at least 1"}));
  EXPECT_TRUE(
      test::throws_saying<Error>([] { preflight(request(R"("data": ["/nowhere/at/all.txt"])")); }, {"/nowhere/at/all.txt"}));
  EXPECT_TRUE(
      test::throws_saying<UsageError>([] { preflight(request(R"("layers": 1000000)")); }, {"1000000 layers", "fewer layers"}));
  PreflightRequest patient = request(R"("layers": 1000000)");
  patient.seconds = 1e6;
  EXPECT_TRUE(test::throws_saying<Error>([&] { preflight(patient); }, {"training needs about", "fewer layers"}));
}

TEST(Preflight, StopsWhenAsked) {
  struct Stop : PreflightObserver {
    bool go_on() override { return ++asked < 5; }
    int asked = 0;
  } stop;
  EXPECT_TRUE(preflight(request(R"("layers": 2, "d_model": 16, "heads": 2)"), &stop).stopped);
}

TEST(Twin, KeepsDepthAndHeadWidthAndShortensBatches) {
  const RunOptions o = planned_options(R"("layers": 24, "d_model": 1024, "heads": 16, "seq_len": 1024, "batch_size": 32)");
  const Twin twin = twin_within(o, 5e9, true);
  EXPECT_EQ(twin.options.model.layers, 24);
  EXPECT_LT(twin.options.model.d_model, 1024);
  EXPECT_EQ(completed(twin.options.model).d_head, 64);
  EXPECT_EQ(twin.options.model.seq_len, 32);
  EXPECT_EQ(twin.options.batch_size, 4);
  EXPECT_NE(twin.summary.find("(of 1024)"), std::string::npos);
}

TEST(Twin, KeepsBranchesAsStrongWhereWeightsDoNotKnowTheWidth) {
  const RunOptions o = planned_options(R"("layers": 24, "d_model": 1024, "heads": 16, "arrangement": "pre-ln")");
  ASSERT_EQ(arrangement_of(o.model).init.base, InitSpec::Base::normal);
  const Twin twin = twin_within(o, 5e9, true);
  const double ratio = 1024.0 / static_cast<double>(twin.options.model.d_model);
  EXPECT_DOUBLE_EQ(*twin.options.model.init.deviation, arrangement_of(o.model).init.deviation * std::sqrt(ratio));
  const RunOptions xavier = planned_options(R"("layers": 24, "d_model": 1024, "heads": 16, "arrangement": "post-ln")");
  EXPECT_FALSE(twin_within(xavier, 5e9, true).options.model.init.deviation.has_value());
}

TEST(Twin, IsTheSameWhetherARuleOrAnOptionSaysHowEmbeddingsStart) {
  const auto twin = [](const char* init) {
    const RunOptions o =
        planned_options(concat(R"("layers": 24, "d_model": 1024, "heads": 16, "arrangement": "post-ln", )", init));
    const Twin made = twin_within(o, 5e9, true);
    EXPECT_LT(made.options.model.d_model, 1024);
    return start_text(made.options.model).embeddings;
  };
  EXPECT_EQ(twin(R"("init": "gpt2")"), twin(R"("init": "gpt2", "embedding_std": 0.02)"));
  EXPECT_EQ(twin(R"("init": "xavier")"), twin(R"("init": "xavier", "embedding_std": 0.03125)"));
  EXPECT_EQ(twin(R"("init": "pytorch")"), twin(R"("init": "pytorch", "embedding_std": 1)"));
}

TEST(Twin, ChangesItsBranchesAsMuchInAStep) {
  const auto faster = [](const char* optimizer) {
    const RunOptions o =
        planned_options(concat(R"("layers": 24, "d_model": 1024, "heads": 16, "optimizer": ")", optimizer, "\""));
    const Twin twin = twin_within(o, 5e9, true);
    return std::pair(twin.options.lr / o.lr, 1024.0 / static_cast<double>(twin.options.model.d_model));
  };
  for (const char* name : {"adam", "adamw", "radam"}) {
    const auto [rate, widths] = faster(name);
    EXPECT_GT(widths, 1) << name;
    EXPECT_DOUBLE_EQ(rate, widths) << name;
  }
  EXPECT_DOUBLE_EQ(faster("adafactor").first, std::sqrt(faster("adafactor").second));
  EXPECT_EQ(faster("sgd").first, 1);
}

TEST(Twin, IsTheModelItselfWhereThatIsSmall) {
  const RunOptions o = planned_options(R"("layers": 12, "d_model": 64, "heads": 2, "seq_len": 16, "batch_size": 2)");
  const Twin twin = twin_within(o, 5e9, true);
  EXPECT_EQ(twin.summary, "");
  EXPECT_EQ(twin.options.model.d_model, 64);
  EXPECT_EQ(twin.options.batch_size, 2);
}

TEST(Search, FindsTheLargestRateAndTheShortestWarmup) {
  PreflightRequest asked = request(R"("layers": 6, "d_model": 32, "heads": 2, "seq_len": 32, "batch_size": 8, "steps": 300,
                                      "optimizer": "adam", "lr": 0.01, "warmup_steps": 0, "arrangement": "post-ln")");
  const auto rate = largest_rate(asked);
  ASSERT_TRUE(rate.has_value());
  EXPECT_LT(rate->rate, 0.01);
  EXPECT_TRUE(rate->larger_fails);
  asked.given.options.lr = rate->rate;
  asked.advice = false;
  EXPECT_EQ(preflight(asked).forecast, Forecast::trains);
  const auto none =
      shortest_warmup(request(R"("layers": 4, "d_model": 16, "heads": 2, "seq_len": 16, "batch_size": 8, "steps": 300,
                                               "optimizer": "adam", "lr": 0.005, "arrangement": "pre-ln")"));
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(*none, 0);
}

TEST(Search, FindsTheShortestWarmupThatPasses) {
  const char* const shallow =
      R"("layers": 8, "d_model": 16, "heads": 2, "seq_len": 16, "batch_size": 8, "optimizer": "adam", "lr": 0.003, "steps": 300, "arrangement": "post-ln")";
  PreflightRequest asked = request(concat(shallow, R"(, "warmup_steps": 0)"));
  asked.advice = false;
  ASSERT_NE(preflight(asked).forecast, Forecast::trains);
  const auto warmup = shortest_warmup(asked);
  ASSERT_TRUE(warmup.has_value());
  EXPECT_GT(*warmup, 0);
  asked.given.options.warmup_steps = *warmup;
  EXPECT_EQ(preflight(asked).forecast, Forecast::trains);
}

TEST(Search, SaysWhereNoRateFails) {
  const auto rate = largest_rate(request(R"("layers": 1, "d_model": 16, "heads": 2, "lr": 3e-5, "warmup_steps": 0)"));
  ASSERT_TRUE(rate.has_value());
  EXPECT_DOUBLE_EQ(rate->rate, 3e-3) << "too slow at first";
  EXPECT_FALSE(rate->larger_fails);
}

}  // namespace
}  // namespace addnorm
