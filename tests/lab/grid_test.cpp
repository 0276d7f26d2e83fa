// Grids: from JSON to rows, and running them with a stand-in for the tool.
#include "addnorm/lab/grid.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include "addnorm/core/error.h"
#include "addnorm/lab/depth.h"
#include "addnorm/lab/grid_run.h"
#include "core/json.h"
#include "support/folder.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

template <class Kind = DataError>
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Kind& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another kind of error: ") + error.what();
  }
  return "nothing was refused";
}
std::string grid_refusal(const std::string& text) {
  return refusal([&] { grid_from_json(text, "my.json"); });
}
void expect_in(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}
Json options_of(const GridRow& row) { return parsed(row.options, "row"); }

// The form.

TEST(GridSpec, CombinesItsListsTheLastChangingFastest) {
  const GridSpec spec =
      grid_from_json(R"({"base": {"steps": 50}, "grid": {"arrangement": ["post-ln", "pre-ln"], "layers": [2, 4]}})", "g");
  ASSERT_EQ(spec.rows.size(), 4u);
  const char* const names[] = {"post-ln", "post-ln", "pre-ln", "pre-ln"};
  const std::size_t layers[] = {2, 4, 2, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    const Json options = options_of(spec.rows[i]);
    EXPECT_EQ(options["arrangement"], Json(names[i]));
    EXPECT_EQ(options["layers"], Json(layers[i]));
    EXPECT_EQ(options["steps"], Json(50));
    EXPECT_EQ(spec.rows[i].seeds, 3u);
  }
}

TEST(GridSpec, KnowsOtherWordsAndAliases) {
  const GridSpec spec =
      grid_from_json(R"({"rows": [{"arrangement": "PreLN", "learning_rate": 0.01, "num_hidden_layers": 3}]})", "g");
  const Json options = options_of(spec.rows.at(0));
  EXPECT_EQ(options["arrangement"], Json("pre-ln"));
  EXPECT_EQ(options["lr"], Json(0.01));
  EXPECT_EQ(options["layers"], Json(3));
}

TEST(GridSpec, ActsInheritBaseAndSeeds) {
  const GridSpec spec = grid_from_json(
      R"({"base": {"lr": 0.01}, "seeds": 2, "acts": [{"name": "one", "rows": [{"layers": 2}]},
          {"name": "two", "seeds": 1, "base": {"lr": 0.02, "seed": 7}, "grid": {"layers": [3, 4]}}]})",
      "g");
  ASSERT_EQ(spec.rows.size(), 3u);
  ASSERT_EQ(spec.acts.size(), 2u);
  EXPECT_EQ(spec.acts[1].name, "two");
  EXPECT_EQ(spec.rows[0].seeds, 2u);
  EXPECT_EQ(spec.rows[1].seeds, 1u);
  EXPECT_EQ(spec.rows[1].first_seed, 7u);
  EXPECT_EQ(spec.rows[2].act, 1u);
  EXPECT_EQ(options_of(spec.rows[0])["lr"], Json(0.01));
  EXPECT_EQ(options_of(spec.rows[2])["lr"], Json(0.02));
  EXPECT_FALSE(options_of(spec.rows[1]).contains("seed"));
}

TEST(GridSpec, LeavesOutDefaultsThatWouldHaveNoEffect) {
  const auto row = [](const std::string& options) {
    return options_of(grid_from_json("{\"rows\": [" + options + "]}", "g").rows[0]);
  };
  EXPECT_EQ(row("{}")["heads"], Json(2));
  EXPECT_FALSE(row(R"({"d_model": 65})").contains("heads"));
  EXPECT_FALSE(row(R"({"optimizer": "sgd"})").contains("lr"));
  EXPECT_FALSE(row(R"({"model": "mlp"})").contains("seq_len"));
  EXPECT_FALSE(row(R"({"layer": "ffn"})").contains("heads"));
}

TEST(GridSpec, RefusesNonsenseAndNamesThePlace) {
  expect_in(grid_refusal("{\"grid\": "), {"my.json", "not JSON", "line 1"});
  expect_in(grid_refusal("[]"), {"my.json", "a grid is an object"});
  expect_in(grid_refusal(R"({"gird": {}})"), {"gird", "did you mean grid?"});
  expect_in(grid_refusal(R"({"grid": {"layers": []}})"), {"my.json", "grid.layers is empty"});
  expect_in(grid_refusal(R"({"grid": {"layerz": [2]}})"), {"grid.layerz", "unknown field 'layerz'", "did you mean layers?"});
  expect_in(grid_refusal(R"({"grid": {"layers": [2, "x"]}})"), {"grid.layers[1]", "\"x\"", "whole number"});
  expect_in(grid_refusal(R"({"grid": {"arrangement": ["pre-lm"]}})"), {"grid.arrangement[0]", "pre-lm", "did you mean pre-ln?"});
  expect_in(grid_refusal(R"({"grid": {"seed": [1, 2]}})"), {"grid.seed", "\"seeds\": 3"});
  expect_in(grid_refusal(R"({"rows": []})"), {"rows", "one object of options or more"});
  expect_in(grid_refusal(R"({"rows": [{}, 3]})"), {"rows[1]", "an object of options"});
  expect_in(grid_refusal(R"({"seeds": 0})"), {"seeds is 0", "1 ... 100"});
  expect_in(grid_refusal(R"({"acts": []})"), {"acts", "one part or more"});
  expect_in(grid_refusal(R"({"acts": [{"grid": {"optimizer": ["adamm"]}}]})"), {"acts[0].grid.optimizer[0]", "adamm", "adamw"});
}

TEST(DefaultLab, HasThreeActs) {
  const GridSpec spec = default_lab();
  ASSERT_EQ(spec.rows.size(), 11u);
  std::size_t runs = 0;
  for (const GridRow& row : spec.rows) runs += row.seeds;
  EXPECT_EQ(runs, 27u);
  EXPECT_EQ(options_of(spec.rows[0])["layers"], Json(12));
  EXPECT_EQ(options_of(spec.rows[6])["warmup_steps"], Json(200));
  EXPECT_EQ(options_of(spec.rows[8])["layers"], Json(24));
  EXPECT_EQ(spec.rows[8].seeds, 1u);
  EXPECT_EQ(options_of(default_lab(R"({"steps": 30})").rows[6])["warmup_steps"], Json(20));
}

// Arithmetic.

TEST(Spread, IsThatOfASample) {
  const std::vector<double> values{2.0, 2.2, 2.4};
  const Spread spread = spread_of(values);
  EXPECT_NEAR(spread.mean, 2.2, 1e-12);
  EXPECT_NEAR(spread.deviation, 0.2, 1e-12);
  EXPECT_EQ(spread.least, 2.0);
  EXPECT_EQ(spread.most, 2.4);
  EXPECT_TRUE(std::isnan(spread_of(std::vector<double>{1.0}).deviation));
}

TEST(Difference, OfThreeSeedsIsWelchs) {
  // By hand: means 2.2 and 2.5, both deviations 0.2: sqrt(2 * 0.04 / 3) = 0.1633, 4 degrees of freedom, t = 2.776.
  const Spread a{.count = 3, .mean = 2.2, .deviation = 0.2}, b{.count = 3, .mean = 2.5, .deviation = 0.2};
  const Difference found = difference_of(a, b);
  EXPECT_NEAR(found.difference, -0.3, 1e-12);
  EXPECT_NEAR(found.margin, 2.776 * std::sqrt(0.08 / 3), 1e-9);
  EXPECT_FALSE(found.clear());
  EXPECT_TRUE(difference_of(a, Spread{.count = 3, .mean = 3.2, .deviation = 0.2}).clear());
}

TEST(Difference, OfFewerThanThreeSeedsIsNeverClear) {
  EXPECT_FALSE(difference_of({.count = 1, .mean = 2}, {.count = 3, .mean = 9, .deviation = 0.1}).clear());
}

/// Rows with these losses, all of them trained or all stuck.
GridResult made_up(const std::vector<std::vector<double>>& losses) {
  GridResult result;
  result.spec = grid_from_json(R"({"grid": {"arrangement": ["post-ln", "pre-ln", "deepnorm", "rezero"]}})", "g");
  for (std::size_t i = 0; i < losses.size(); ++i) {
    RowResult row{.row = result.spec.rows[i], .label = "row " + std::to_string(i), .options = result.spec.rows[i].options};
    row.baselines = {.floor = 1.8, .uniform = 3.8, .unigram = 3.4, .bigram = 2.1};
    for (const double loss : losses[i]) {
      row.runs.push_back(result.runs.size());
      result.runs.push_back({.state = RunState::done, .losses = {loss}});
      result.runs.back().judged = {.outcome = loss < 2.5 ? Outcome::trained : Outcome::stuck, .loss = loss};
    }
    result.rows.push_back(row);
  }
  summarise(result);
  return result;
}

TEST(Comparisons, CallNothingBetterInsideTheNoise) {
  const auto lines = comparisons(made_up({{2.00, 2.10, 2.20}, {2.05, 2.15, 2.25}, {2.40, 2.41, 2.42}}));
  ASSERT_EQ(lines.size(), 2u);
  expect_in(lines[0], {"row 0 and row 1", "no difference outside the noise"});
  expect_in(lines[1], {"row 1 is below row 2 by 0.26"});
}

TEST(Comparisons, LeaveOutRowsWithOneSeedAndSaySo) {
  const auto lines = comparisons(made_up({{2.0}, {2.4, 2.4, 2.4}}));
  ASSERT_EQ(lines.size(), 1u);
  expect_in(lines[0], {"1 row", "no spread"});
}

TEST(Rows, SayWhatHappenedAndHowFarFromTheFloor) {
  const GridResult result = made_up({{2.0, 2.0, 3.4}, {3.4, 3.4, 2.0}});
  EXPECT_EQ(result.rows[0].happened, Happened::trains);
  EXPECT_EQ(result.rows[0].trained, 2u);
  EXPECT_NEAR(result.rows[0].distance, (2.0 + 2.0 + 3.4) / 3 - 1.8, 1e-12);
  EXPECT_EQ(result.rows[1].happened, Happened::does_not_train);
  EXPECT_EQ(result.rows[1].outcome_text(), "trained 1, stuck 2 of 3");
}

TEST(Rows, NeedWarmupWhereACopyWithMoreOfItTrains) {
  GridResult result = made_up({{3.4}, {2.0}, {3.4}, {3.4}});
  const auto become = [&](std::size_t row, const char* options) {
    result.rows[row].row.options = result.rows[row].options = options;
  };
  become(0, R"({"arrangement": "post-ln", "warmup_steps": 0, "steps": 300})");
  become(1, R"({"arrangement": "post-ln", "warmup_steps": 200, "steps": 300})");
  become(2, R"({"arrangement": "plain", "warmup_steps": 0, "steps": 300})");
  become(3, R"({"arrangement": "plain", "warmup_steps": 200, "steps": 300})");
  summarise(result);
  EXPECT_EQ(result.rows[0].happened, Happened::needs_warmup);
  EXPECT_EQ(result.rows[2].happened, Happened::will_not_train);
  EXPECT_EQ(result.rows[3].happened, Happened::will_not_train);

  for (RowResult& row : result.rows) row.prediction = Prediction{.forecast = Forecast::needs_warmup};
  result.rows[1].prediction->forecast = Forecast::trains;
  EXPECT_TRUE(*result.rows[0].agreed());
  EXPECT_FALSE(*result.rows[2].agreed());
  const Confusion confusion = confusion_of(result);
  EXPECT_EQ(confusion.counts[1][2], 2u);
  EXPECT_NEAR(confusion.balanced_accuracy(), 2.0 / 3, 1e-12);
  EXPECT_EQ(confusion.two_way_accuracy(), 1.0);
}

// Running, with a shell script in place of the tool: it writes what `train` would.

struct Watching : GridObserver {
  std::size_t started = 0;
  int stop_after = -1;
  void on_run_started(const GridResult&, std::size_t) override { ++started; }
  bool go_on() override { return stop_after < 0 || static_cast<int>(started) <= stop_after; }
};

struct GridRuns : testing::Test {
  GridRuns() {
    program = folder.write("tool", R"(#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --out) out=$2; shift;; --config) config=$2; shift;; --threads) echo "$2" >> ")" +
                                       (folder.path / "threads.txt").string() + R"("; shift;; esac; shift; done
case $config in
  *deepnorm*s2*) [ -e ")" + (folder.path / "mended").string() +
                                       R"(" ] || { head -c 20 /dev/zero > "$out/metrics.jsonl"; kill -9 $$; } ;;
  *rezero*) echo '{"step":1,"loss":3.0}' > "$out/metrics.jsonl"
            echo '{"step":2,"stopped":"loss: nan"}' >> "$out/metrics.jsonl"; exit 1;;
  *sandwich*) echo "addnorm train: no such file: a.txt" >&2; exit 1;;
esac
loss=2.0; case $config in *post-ln*wu0*) loss=3.4
  echo '{"step":1,"stacks":[{"units":["a","b"],"spread":[1,1,0.001],"gradient_norm":[1e-9,1e-9,1]}]}' > "$out/probes.jsonl";; esac
i=1; while [ $i -le 30 ]; do echo "{\"step\":$i,\"loss\":$loss}"; i=$((i+1)); done > "$out/metrics.jsonl"
)");
    chmod(program.c_str(), 0755);
  }
  GridRequest request(const std::string& spec) const {
    GridRequest all{.spec = grid_from_json(spec, "g"), .folder = folder.path / "lab", .program = program};
    all.predict = false;
    all.confirm = false;
    all.threads = 2;
    return all;
  }
  static std::string rows(const std::string& names, const std::string& more = "") {
    return R"({"base": {"d_model": 16, "layers": 2, "seq_len": 8, "steps": 30)" + more +
           R"(}, "seeds": 2, "grid": {"arrangement": [)" + names + "]}}";
  }
  test::TemporaryFolder folder;
  fs::path program;
  Watching watching;
};

TEST_F(GridRuns, EndWithTheResultOfEveryRowAndAreNotRunTwice) {
  const GridRequest asked = request(rows(R"("post-ln", "pre-ln")"));
  const GridResult first = run_grid(asked, watching);
  EXPECT_TRUE(first.finished);
  EXPECT_EQ(watching.started, 4u);
  EXPECT_EQ(first.rows.at(0).happened, Happened::does_not_train);
  EXPECT_EQ(first.rows.at(1).happened, Happened::trains);
  EXPECT_EQ(first.rows[1].label, "pre-ln, 2 layers");
  EXPECT_EQ(first.failed(), 0u);
  EXPECT_NE(first.runs[0].folder.filename().string().find("post-ln-2L-lr0.001-wu0-s1-"), std::string::npos);
  const Json json = parsed(test::text_of(folder.path / "lab" / "lab.json"), "lab.json");
  EXPECT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["runs"][1]["outcome"], Json("stuck"));

  const GridResult second = run_grid(asked, watching);
  EXPECT_EQ(watching.started, 4u);
  EXPECT_TRUE(second.runs[3].cached);
  EXPECT_EQ(second.rows[1].loss.mean, first.rows[1].loss.mean);
}

TEST_F(GridRuns, AreOthersWithAnyOtherOption) {
  const auto keys = [&](const std::string& more) {
    std::vector<std::string> all;
    GridRequest asked = request(rows(R"("pre-ln")", more));
    asked.run = false;
    for (const GridRun& run : run_grid(asked, watching).runs) all.push_back(run.key);
    return all;
  };
  const std::vector<std::string> usual = keys("");
  EXPECT_EQ(keys(""), usual);
  EXPECT_EQ(keys(R"(, "norm": "layernorm")"), usual);  // what it is anyway
  std::set<std::string> seen(usual.begin(), usual.end());
  EXPECT_EQ(seen.size(), 2u);  // by their seeds
  for (const char* more : {R"(, "lr": 0.002)", R"(, "norm": "rmsnorm")", R"(, "heads": 1)", R"(, "optimizer": "radam")",
                           R"(, "clip_grad_norm": 2)", R"(, "warmup_steps": 1)", R"(, "dropout": 0.1)"})
    for (const std::string& key : keys(more)) EXPECT_TRUE(seen.insert(key).second) << more;
}

TEST_F(GridRuns, ThatCrashEndNothingElseAndAreTriedAgain) {
  const GridRequest asked = request(rows(R"("deepnorm", "sandwich", "pre-ln")"));
  const GridResult result = run_grid(asked, watching);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.failed(), 3u);
  EXPECT_EQ(result.runs[0].state, RunState::done);
  EXPECT_EQ(result.runs[1].state, RunState::failed);
  expect_in(result.runs[1].problem, {"signal 9"});
  expect_in(result.runs[2].problem, {"no such file: a.txt"});
  EXPECT_EQ(result.rows[2].done, 2u);

  folder.write("mended", "");
  watching.started = 0;
  const GridResult again = run_grid(asked, watching);
  EXPECT_EQ(watching.started, 3u);  // not those that were done
  EXPECT_EQ(again.runs[1].state, RunState::done);
}

TEST_F(GridRuns, ThatEndByNumbersThatAreNotFiniteAreResults) {
  const GridRequest asked = request(rows(R"("rezero")"));
  const GridResult result = run_grid(asked, watching);
  EXPECT_EQ(result.failed(), 0u);
  EXPECT_EQ(result.runs[0].judged.outcome, Outcome::diverged);
  EXPECT_EQ(result.runs[0].broke_off, "loss: nan");
  run_grid(asked, watching);
  EXPECT_EQ(watching.started, 2u);
}

TEST_F(GridRuns, ThatTwoRowsAskForAreRunOnce) {
  const GridResult result = run_grid(request(R"({"base": {"d_model": 16, "layers": 2, "seq_len": 8, "steps": 30}, "seeds": 1,
                           "rows": [{"arrangement": "pre-ln"}, {"arrangement": "PreLN", "norm": "layernorm"}]})"),
                                     watching);
  EXPECT_EQ(watching.started, 1u);
  EXPECT_EQ(result.rows[0].runs, result.rows[1].runs);
}

TEST_F(GridRuns, OfOneRunHaveAllThreads) {
  GridRequest asked = request(rows(R"("pre-ln")"));
  asked.spec.rows[0].seeds = 1;
  run_grid(asked, watching);
  EXPECT_EQ(test::text_of(folder.path / "threads.txt"), "2\n");
}

TEST_F(GridRuns, KeepWhatIsDoneWhenTheyAreStopped) {
  watching.stop_after = 0;
  GridRequest asked = request(rows(R"("pre-ln", "post-ln")"));
  asked.at_once = 1;
  const GridResult stopped = run_grid(asked, watching);
  EXPECT_FALSE(stopped.finished);
  EXPECT_TRUE(fs::exists(folder.path / "lab" / "lab.json"));
  EXPECT_EQ(std::ranges::count(stopped.runs, RunState::waiting, &GridRun::state), 3);
  watching.stop_after = -1;
  EXPECT_TRUE(run_grid(asked, watching).finished);
}

TEST_F(GridRuns, AreRefusedBeforeTheFirstStarts) {
  const auto refused = [&]<class Kind>(Kind*, const std::string& last_row) {
    return refusal<Kind>([&] {
      run_grid(request(R"({"base": {"d_model": 16, "layers": 2, "seq_len": 8, "steps": 30}, "rows": [{}, )" + last_row + "]}"),
               watching);
    });
  };
  UsageError* const usage = nullptr;
  DataError* const data = nullptr;
  Error* const any = nullptr;
  expect_in(refused(usage, R"({"warmup_steps": 31})"), {"g: rows[1]", "--warmup-steps is 31"});
  expect_in(refused(usage, R"({"momentum": 0.5})"), {"g: rows[1]", "--momentum has no effect"});
  expect_in(refused(usage, R"({"heads": 3})"), {"g: rows[1]", "heads"});
  expect_in(refused(usage, R"({"norm": "nonorm"})"), {"g: rows[1]", "nonorm", "layernorm"});
  expect_in(refused(usage, R"({"data": "-"})"), {"g: rows[1]", "standard input"});
  expect_in(refused(data, R"({"data": "nowhere.txt"})"), {"g: rows[1]", "nowhere.txt"});
  expect_in(refused(any, R"({"layers": 1000000, "d_model": 4096})"), {"g: rows[1]", "memory"});
  EXPECT_EQ(watching.started, 0u);
  EXPECT_FALSE(fs::exists(folder.path / "lab"));
}

TEST_F(GridRuns, TellNeedsWarmupFromWillNotTrainByASecondRun) {
  GridRequest asked = request(rows(R"("post-ln", "pre-ln")"));
  asked.spec.with_warmup = 20;
  const GridResult result = run_grid(asked, watching);
  ASSERT_EQ(result.rows.size(), 3u);
  EXPECT_EQ(result.rows[2].instead_of, 0u);
  EXPECT_EQ(result.rows[0].happened, Happened::needs_warmup);
  ASSERT_TRUE(result.rows[0].cause.has_value());
  EXPECT_TRUE(result.rows[0].cause->confirmed);
  EXPECT_EQ(result.rows[0].cause->by, "with 20 warm-up steps: trains, 2 of 2");
}

TEST_F(GridRuns, ConfirmACauseByAnotherRowOfTheGrid) {
  const GridResult result = run_grid(request(rows(R"("post-ln", "pre-ln")")), watching);
  EXPECT_EQ(result.rows[0].cause->kind, CauseKind::tokens_alike);
  EXPECT_TRUE(result.rows[0].cause->confirmed);
  EXPECT_EQ(result.rows[0].cause->by, "as pre-ln: trains, 2 of 2");
  EXPECT_FALSE(result.rows[1].cause.has_value());
}

TEST_F(GridRuns, FindTheDeepestStackThatTrains) {
  program = folder.write("tool2", R"(#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --out) out=$2; shift;; esac; shift; done
name=${out##*/}; layers=${name#pre-ln-}; layers=${layers%%L*}
loss=2.0; [ "$layers" -le 13 ] || loss=3.4
i=1; while [ $i -le 30 ]; do echo "{\"step\":$i,\"loss\":$loss}"; i=$((i+1)); done > "$out/metrics.jsonl"
)");
  chmod(program.c_str(), 0755);
  DepthRequest asked{.options = R"({"d_model": 16, "seq_len": 8, "steps": 30, "arrangement": "pre-ln"})"};
  asked.grid = request(rows(R"("pre-ln")"));
  const DepthResult found = find_depth(asked, watching);
  EXPECT_EQ(found.deepest, 13u);
  EXPECT_EQ(found.fails, 14u);
  EXPECT_EQ(found.text(), "the deepest stack that trains has 13 layers");
  EXPECT_LE(watching.started, 8u);
  asked.most = 12;
  EXPECT_EQ(find_depth(asked, watching).text(), "12 layers train, the most that was asked for");
}

}  // namespace
}  // namespace addnorm
