// Running grids, with a stand-in for the tool.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "addnorm/core/error.h"
#include "addnorm/lab/depth.h"
#include "addnorm/lab/grid_run.h"
#include "core/json/json.h"
#include "lab/refusals.h"
#include "support/folder.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

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
i=1; while [ $i -le 120 ]; do echo "{\"step\":$i,\"loss\":$loss}"; i=$((i+1)); done > "$out/metrics.jsonl"
)");
    chmod(program.c_str(), 0755);
  }
  GridRequest request(const std::string& spec) const {
    GridRequest all{.spec = grid_from_json(spec, "g"), .folder = folder.path / "lab"};
    all.program.path = program;
    all.program.train = [](const GridTraining& asked) -> std::vector<std::string> {
      return {"train", "--config", asked.options, "--out", asked.folder, "--threads", std::to_string(asked.threads)};
    };
    all.program.predict = [](const GridPrediction& asked) -> std::vector<std::string> {
      return {"lab", "predict", asked.question, asked.answer};
    };
    all.program.complaints = {"addnorm train: "};
    all.predict = false;
    all.confirm = false;
    all.threads = 2;
    return all;
  }
  static std::string rows(const std::string& names, const std::string& more = "") {
    return R"({"base": {"d_model": 16, "layers": 2, "seq_len": 8, "steps": 120)" + more +
           R"(}, "seeds": 2, "grid": {"arrangement": [)" + names + "]}}";
  }
  test::TemporaryFolder folder;
  fs::path program;
  Watching watching;
};

TEST_F(GridRuns, KeepTheResultOfAnotherGridInTheSameFolder) {
  const auto run = [&](const char* arrangement) {
    GridRequest one = request(concat(R"({"grid": {"arrangement": [")", arrangement, R"("]}, "seeds": 1})"));
    one.run = false;
    Watching nobody;
    run_grid(one, nobody);
  };
  const auto said = [&](const char* file) {
    std::ifstream in(folder.path / "lab" / file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  run("pre-ln");
  run("pre-ln");
  EXPECT_FALSE(fs::exists(folder.path / "lab" / "lab-1.json")) << "the same grid again";
  run("post-ln");
  EXPECT_NE(said("lab-1.json").find("pre-ln"), std::string::npos);
  EXPECT_NE(said("lab-1-grid.json").find("pre-ln"), std::string::npos);
  EXPECT_EQ(said("lab.json").find("pre-ln"), std::string::npos);
  run("rezero");
  EXPECT_NE(said("lab-2.json").find("post-ln"), std::string::npos);
}

TEST_F(GridRuns, EndWithTheResultOfEveryRowAndAreNotRunTwice) {
  const GridRequest asked = request(rows(R"("post-ln", "pre-ln")"));
  const GridResult first = run_grid(asked, watching);
  EXPECT_TRUE(first.finished);
  EXPECT_EQ(watching.started, 4u);
  EXPECT_EQ(first.rows.at(0).happened, Happened::does_not_train);
  EXPECT_EQ(first.rows.at(1).happened, Happened::trains);
  EXPECT_EQ(first.rows[1].label, "pre-ln, 2 layers, gpt2 weights, embeddings 0.02") << "post-ln starts otherwise";
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

TEST_F(GridRuns, GoOnWithoutPredictionsThatCrash) {
  folder.write("tool", R"(#!/bin/sh
case "$1 $2" in "lab predict") kill -SEGV $$;; esac
while [ $# -gt 0 ]; do case $1 in --out) out=$2; shift;; esac; shift; done
i=1; while [ $i -le 120 ]; do echo "{\"step\":$i,\"loss\":2.0}"; i=$((i+1)); done > "$out/metrics.jsonl"
)");
  chmod(program.c_str(), 0755);
  GridRequest asked = request(rows(R"("pre-ln", "deepnorm")"));
  asked.predict = true;
  const GridResult result = run_grid(asked, watching);
  EXPECT_TRUE(result.finished);
  for (const RowResult& row : result.rows) {
    EXPECT_FALSE(row.prediction.has_value());
    expect_in(row.no_prediction, {"signal 11"});
    EXPECT_EQ(row.happened, Happened::trains);
    EXPECT_FALSE(row.agreed().has_value());
  }
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
  const GridResult result = run_grid(request(R"({"base": {"d_model": 16, "layers": 2, "seq_len": 8, "steps": 120}, "seeds": 1,
                           "rows": [{"arrangement": "pre-ln"}, {"arrangement": "PreLN", "norm": "layernorm"}]})"),
                                     watching);
  EXPECT_EQ(watching.started, 1u);
  EXPECT_EQ(result.rows[0].runs, result.rows[1].runs);
}

TEST_F(GridRuns, ThatStartAlikeAreRunReportedAndCountedOnce) {
  const GridResult result =
      run_grid(request(R"({"base": {"d_model": 16, "layers": 2, "seq_len": 8, "steps": 120}, "seeds": 3, "rows": [
        {"arrangement": "post-ln"}, {"arrangement": "post-ln", "init": "xavier"}, {"arrangement": "pre-ln", "init": "xavier"},
        {"arrangement": "norm-skip", "init": "xavier"}, {"arrangement": "norm-skip", "init": "glorot", "seeds": 1}]})"),
               watching);
  EXPECT_EQ(watching.started, 9u);
  EXPECT_EQ(result.rows[0].runs, result.rows[1].runs);
  EXPECT_EQ(result.rows[1].same_as, 0u);
  EXPECT_EQ(result.rows[4].same_as, 3u) << "which has its seed";
  EXPECT_FALSE(result.is_repeated(0) || result.is_repeated(2) || result.is_repeated(3));
  EXPECT_EQ(result.rows[0].label, result.rows[1].label);
  EXPECT_EQ(findings(result).at(1), "2 layers: pre-ln and norm-skip train; post-ln does not.");
  EXPECT_EQ(comparisons(result).lines.size(), 1u) << "one pair";
  const Json json = parsed(test::text_of(folder.path / "lab" / "lab.json"), "lab.json");
  EXPECT_EQ(json["rows"][1]["same_as"], Json(std::size_t{0}));
  EXPECT_FALSE(json["rows"][0].contains("same_as"));
  EXPECT_EQ(json["headline"], Json(headline(result)));
}

TEST_F(GridRuns, HaveLabelsThatDistinguishThem) {
  GridRequest asked = request(R"({"base": {"d_model": 16, "layers": 2, "seq_len": 8, "steps": 120}, "seeds": 1, "rows": [
    {"seed": 1}, {"seed": 7}, {"branch_scale": 0.5001}, {"branch_scale": 0.5002}, {"embedding_std": 0.1234},
    {"embedding_std": 0.12341}, {"own_arrangement": {"name": "mine", "unit": {"post": true}}},
    {"own_arrangement": {"name": "mine", "unit": {"in": true}}}]})");
  asked.run = false;
  const GridResult result = run_grid(asked, watching);
  std::set<std::string> labels, in_act;
  for (const RowResult& row : result.rows) {
    EXPECT_TRUE(labels.insert(row.label).second) << row.label;
    EXPECT_TRUE(in_act.insert(row.label_in_act).second) << row.label_in_act;
    EXPECT_EQ(row.label.find('{'), std::string::npos) << row.label;
  }
  expect_in(result.rows[1].label, {", seed 7"});
  expect_in(result.rows[3].label, {"W_o and W_2 times 0.5002"});
  expect_in(result.rows[5].label, {"embeddings 0.123, embedding-std 0.12341"});
}

TEST_F(GridRuns, AreLabelledByTheRuleThatIsAskedForBesideGainsOfTheFormula) {
  const auto labels = [&](const char* rows) {
    GridRequest asked =
        request(concat(R"({"base": {"d_model": 16, "layers": 2, "seq_len": 8, "steps": 120}, "rows": )", rows, "}"));
    asked.run = false;
    std::vector<std::string> all;
    for (const RowResult& row : run_grid(asked, watching).rows) all.push_back(row.label);
    return all;
  };
  const std::vector<std::string> mixed = labels(
      R"([{"arrangement": "post-ln", "init": "gpt2"}, {"arrangement": "deepnorm", "init": "gpt2"}, {"arrangement": "deepnorm"}])");
  EXPECT_EQ(mixed.at(0), "post-ln, 2 layers, gpt2 weights, embeddings 0.02");
  EXPECT_EQ(mixed.at(1), "deepnorm, 2 layers, gpt2 weights with its own gains, embeddings 0.02");
  EXPECT_EQ(mixed.at(2), "deepnorm, 2 layers, deepnorm weights with its own gains, embeddings 0.25");
  EXPECT_EQ(labels(R"([{"arrangement": "post-ln", "init": "xavier"}, {"arrangement": "deepnorm", "init": "xavier"}])").at(1),
            "deepnorm, 2 layers")
      << "one rule for all of them needs no name";
}

TEST_F(GridRuns, WithAnotherSeedAreNoOtherArrangement) {
  const GridResult result = run_grid(
      request(R"({"base": {"d_model": 16, "layers": 2, "seq_len": 8, "steps": 120, "init": "xavier"}, "seeds": 1, "rows": [
        {"arrangement": "post-ln"}, {"arrangement": "pre-ln"}, {"arrangement": "post-ln", "seed": 7},
        {"arrangement": "pre-ln", "seed": 7}]})"),
      watching);
  const std::vector<std::string> found = findings(result);
  EXPECT_EQ(found.at(1), "seed 1: pre-ln trains; post-ln does not (1 seed each).");
  EXPECT_EQ(found.at(2), "seed 7: pre-ln trains; post-ln does not (1 seed each).");
}

TEST_F(GridRuns, WithAWarmupThatWasAskedForAreNotCopiedWithAnother) {
  GridRequest asked = request(R"({"base": {"d_model": 16, "layers": 2, "seq_len": 8, "steps": 120, "init": "xavier"}, "seeds": 1,
    "with_warmup": 50, "rows": [{"arrangement": "post-ln"}, {"arrangement": "pre-ln"}]})");
  asked.confirm = true;
  const GridResult result = run_grid(asked, watching);
  std::size_t warm = 0;
  for (const RowResult& row : result.rows) warm += row.row.options.find(R"("warmup_steps":0)") == std::string::npos;
  EXPECT_EQ(warm, 1u);
}

TEST_F(GridRuns, AreStartedInTheWordsOfWhateverProgramTheyAreGiven) {
  GridRequest asked = request(rows(R"("pre-ln", "sandwich")"));
  asked.program.path = folder.write("mine", R"(#!/bin/sh
[ "$1 $3" = "learn with" ] || exit 2
grep -q '"arrangement": "sandwich"' "$2" && { echo "oh no: too spicy" >&2; exit 1; }
i=1; while [ $i -le 120 ]; do echo "{\"step\":$i,\"loss\":2.0}"; i=$((i+1)); done > "$4/metrics.jsonl"
)");
  chmod(asked.program.path.c_str(), 0755);
  asked.program.train = [](const GridTraining& run) -> std::vector<std::string> {
    return {"learn", run.options, "with", run.folder};
  };
  asked.program.complaints = {"oh no: "};
  const GridResult result = run_grid(asked, watching);
  EXPECT_EQ(result.rows.at(0).done, 2u);
  EXPECT_EQ(result.runs.at(2).problem, "too spicy");
}

TEST_F(GridRuns, WithoutAProgramThatTrainsAreRefused) {
  GridRequest asked = request(rows(R"("pre-ln")"));
  asked.program.train = nullptr;
  expect_in(refusal<UsageError>([&] { run_grid(asked, watching); }), {"run_grid: program has no `train`"});
  asked = request(rows(R"("pre-ln")"));
  asked.program.predict = nullptr;
  asked.predict = true;
  expect_in(refusal<UsageError>([&] { run_grid(asked, watching); }), {"run_grid: program has no `predict`"});
  EXPECT_FALSE(fs::exists(folder.path / "lab"));
}

TEST_F(GridRuns, AskForAPredictionByAFileThatAnotherProcessAnswers) {
  const std::string question = folder.write("asked.json", R"({"options": {"arrangement": "pre-ln", "layers": 2, "d_model": 16,
    "seq_len": 8, "steps": 20}, "first_seed": 1, "seeds": 1, "cache": ")" +
                                                              (folder.path / "cache").string() + "\"}");
  answer_question(question, folder.path / "answer.json");
  const Prediction found = prediction_from_json(test::text_of(folder.path / "answer.json"), "answer");
  EXPECT_FALSE(found.reason.empty());
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
      run_grid(request(R"({"base": {"d_model": 16, "layers": 2, "seq_len": 8, "steps": 120}, "rows": [{}, )" + last_row + "]}"),
               watching);
    });
  };
  UsageError* const usage = nullptr;
  DataError* const data = nullptr;
  Error* const any = nullptr;
  expect_in(refused(usage, R"({"warmup_steps": 121})"), {"g: rows[1]", "warmup_steps is 121"});
  expect_in(refused(usage, R"({"momentum": 0.5})"), {"g: rows[1]", "momentum has no effect"});
  expect_in(refused(usage, R"({"heads": 3})"), {"g: rows[1]", "heads"});
  expect_in(refused(usage, R"({"norm": "nonorm"})"), {"g: rows[1]", "nonorm", "layernorm"});
  expect_in(refused(usage, R"({"data": "-"})"), {"g: rows[1]", "standard input"});
  expect_in(refused(data, R"({"data": "nowhere.txt"})"), {"g: rows[1]", "nowhere.txt"});
  expect_in(refused(any, R"({"layers": 1000000, "d_model": 4096})"), {"g: rows[1]", "memory"});
  GridRequest too_long = request(rows(R"("pre-ln")"));
  too_long.spec.with_warmup = 121;
  expect_in(refusal<UsageError>([&] { run_grid(too_long, watching); }), {"with_warmup is 121", "120 steps"});
  EXPECT_EQ(watching.started, 0u);
  EXPECT_FALSE(fs::exists(folder.path / "lab"));
}

TEST_F(GridRuns, DistinguishNeedsWarmupFromWillNotTrainByASecondRun) {
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
  const GridResult apart = run_grid(request(rows(R"("post-ln", "pre-ln")")), watching);
  EXPECT_FALSE(apart.rows[0].cause->confirmed) << "they differ in their weights too";
  GridRequest asked = request(rows(R"("post-ln", "pre-ln")"));
  for (GridRow& row : asked.spec.rows) {
    Json options = parsed(row.options, "row");
    options["init"] = "xavier";
    row.options = options.dump();
  }
  const GridResult result = run_grid(asked, watching);
  EXPECT_EQ(result.rows[0].cause->kind, CauseKind::tokens_alike);
  EXPECT_TRUE(result.rows[0].cause->confirmed);
  EXPECT_EQ(result.rows[0].cause->by, "as pre-ln: trains, 2 of 2");
  EXPECT_FALSE(result.rows[1].cause.has_value());
}

TEST_F(GridRuns, OfTooFewStepsAddNoRowsAndFindNoDepth) {
  folder.write("tool", R"(#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --out) out=$2; shift;; esac; shift; done
echo '{"step":1,"stacks":[{"units":["a","b"],"spread":[1,1,0.001],"gradient_norm":[1e-9,1e-9,1]}]}' > "$out/probes.jsonl"
i=1; while [ $i -le 20 ]; do echo "{\"step\":$i,\"loss\":3.4}"; i=$((i+1)); done > "$out/metrics.jsonl"
)");
  chmod(program.c_str(), 0755);
  GridRequest asked = request(rows(R"("post-ln", "pre-ln")"));
  for (GridRow& row : asked.spec.rows)
    row.options = with_lab_defaults(R"({"arrangement": "post-ln", "d_model": 16, "layers": 2, "seq_len": 8, "steps": 20})", "g");
  asked.spec.with_warmup = 20;
  asked.confirm = true;
  const GridResult result = run_grid(asked, watching);
  EXPECT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.rows[0].happened, Happened::too_short);
  EXPECT_FALSE(result.rows[0].cause.has_value());

  DepthRequest deep{.options = R"({"d_model": 16, "seq_len": 8, "steps": 20, "arrangement": "pre-ln"})"};
  deep.grid = request(rows(R"("pre-ln")"));
  const DepthResult found = find_depth(deep, watching);
  EXPECT_FALSE(found.finished);
  EXPECT_EQ(found.fails, 0u);
  expect_in(found.text(), {"not found: runs of 20 steps are too short to tell", "300 are usual: steps 300"});
  const Json json = parsed(to_json(found), "depth");
  EXPECT_TRUE(json["tried"][0]["trains"].is_null());
}

TEST_F(GridRuns, FindTheDeepestStackThatTrains) {
  program = folder.write("tool2", R"(#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --out) out=$2; shift;; esac; shift; done
name=${out##*/}; layers=${name#pre-ln-}; layers=${layers%%L*}
loss=2.0; [ "$layers" -le 13 ] || loss=3.4
i=1; while [ $i -le 120 ]; do echo "{\"step\":$i,\"loss\":$loss}"; i=$((i+1)); done > "$out/metrics.jsonl"
)");
  chmod(program.c_str(), 0755);
  DepthRequest asked{.options = R"({"d_model": 16, "seq_len": 8, "steps": 120, "arrangement": "pre-ln"})"};
  asked.grid = request(rows(R"("pre-ln")"));
  const DepthResult found = find_depth(asked, watching);
  EXPECT_EQ(found.deepest, 13u);
  EXPECT_EQ(found.fails, 14u);
  EXPECT_EQ(found.text(), "the deepest stack that trains has 13 layers");
  EXPECT_LE(watching.started, 8u);
  asked.most = 12;
  EXPECT_EQ(find_depth(asked, watching).text(), "12 layers train, the most that was asked for");
}

TEST_F(GridRuns, OfADepthSearchAreNamedWithTheirStart) {
  const auto configuration = [&](const char* more) {
    DepthRequest asked{.options = concat(R"({"d_model": 16, "seq_len": 8, "steps": 120, "arrangement": "post-ln")", more, "}")};
    asked.most = 1;
    asked.grid = request(rows(R"("pre-ln")"));
    return find_depth(asked, watching).configuration;
  };
  EXPECT_EQ(configuration(""), "post-ln, xavier weights, width 16, adam at 0.001, no warm-up, 120 steps");
  EXPECT_EQ(configuration(R"(, "init": "gpt2", "embedding_std": 0.125, "branch_scale": 0.5)"),
            "post-ln, gpt2 weights, W_o and W_2 times 0.5, embeddings 0.125, width 16, adam at 0.001, no warm-up, 120 steps");
}

TEST_F(GridRuns, ThatAreSlowAreNoProofThatAStackIsTooDeep) {
  program = folder.write("tool2", R"(#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --out) out=$2; shift;; esac; shift; done
i=1; while [ $i -le 120 ]; do
  loss=3.$((500 - 3 * i))
  echo "{\"step\":$i,\"loss\":$loss}"; i=$((i+1)); done > "$out/metrics.jsonl"
)");
  chmod(program.c_str(), 0755);
  DepthRequest asked{.options = R"({"d_model": 16, "seq_len": 8, "steps": 120, "arrangement": "pre-ln"})"};
  asked.grid = request(rows(R"("pre-ln")"));
  asked.most = 4;
  DepthResult found = find_depth(asked, watching);
  EXPECT_EQ(found.deepest, 0u);
  expect_in(found.text(), {"even one layer is slow, not stuck", "more steps or a larger lr may be enough"});
  const Json json = parsed(to_json(found), "depth");
  EXPECT_EQ(json["tried"][0]["slow"], Json(true));
  found.deepest = 3;
  found.fails = 4;
  found.tried = {{.layers = 3, .trains = true}, {.layers = 4, .slow = true}};
  expect_in(found.text(), {"the deepest stack that trains has 3 layers; with 4 it is slow, not stuck"});
  found.tried.back().slow = false;
  EXPECT_EQ(found.text(), "the deepest stack that trains has 3 layers");
}

}  // namespace
}  // namespace addnorm
