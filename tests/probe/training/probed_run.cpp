// Runs that are recorded, from C++ without the tool.
#include "addnorm/probe/probed_run.h"

#include "core/json/json.h"
#include "train/run/runs.h"

namespace addnorm::test {
namespace {

struct ProbedRuns : Runs {
  std::vector<std::int64_t> recorded(const std::string& name) const {
    std::ifstream file(RunFolder{folder.path / name}.probes());
    std::vector<std::int64_t> steps;
    for (std::string line; std::getline(file, line);) steps.push_back(parsed(line, "probes.jsonl")["step"].integer());
    return steps;
  }
};

constexpr const char* kProbed = R"("steps": 6, "probes": "on", "probe_every": 3)";

TEST_F(ProbedRuns, ARunWithProbesWritesTheirRecordsAndLearnsTheSameBits) {
  Watcher probed, plain;
  EXPECT_TRUE(train_run_with_probes(request("probed", kProbed), probed).finished);
  EXPECT_TRUE(train_run_with_probes(request("plain", "\"steps\": 6"), plain).finished);
  EXPECT_EQ(recorded("probed"), (std::vector<std::int64_t>{1, 2, 3, 6}));
  EXPECT_FALSE(std::filesystem::exists(RunFolder{folder.path / "plain"}.probes()));
  EXPECT_EQ(probed.losses, plain.losses);
  EXPECT_EQ(weights("probed"), weights("plain"));
}

TEST_F(ProbedRuns, ARunWithoutAnObserverForItsProbesIsRefusedAndSaysWhatRecordsThem) {
  const std::string message = refusal(request("a", kProbed));
  EXPECT_NE(message.find("train_run_with_probes (addnorm/probe/probed_run.h)"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(folder.path / "a"));
}

TEST_F(ProbedRuns, AResumedRunIsRecordedOn) {
  Watcher part(4), rest;
  train_run_with_probes(request("a", kProbed), part);
  EXPECT_TRUE(train_run_with_probes(request("a", kProbed, true), rest).finished);
  EXPECT_EQ(recorded("a"), (std::vector<std::int64_t>{1, 2, 3, 6}));
}

/// Hears what happens within a step, as an observer of a run may.
struct HearsAll : Watcher {
  void on_part(std::int64_t, const Batch&) override { ++parts; }
  void on_loss(std::int64_t, const Var&) override { ++heard_losses; }
  void on_backward(std::int64_t) override { ++backwards; }
  void on_gradients(std::int64_t, Model&) override { ++gradients; }
  int parts = 0, heard_losses = 0, backwards = 0, gradients = 0;
};

TEST_F(ProbedRuns, TheObserverAfterTheProbesHearsAllThatHappensWithinAStep) {
  HearsAll view;
  ProbedRun run(view, folder.path / "a");
  train_run(request("a", kProbed), run);
  EXPECT_EQ(view.parts, 6);
  EXPECT_EQ(view.heard_losses, 6);
  EXPECT_EQ(view.backwards, 6);
  EXPECT_EQ(view.gradients, 6);
  const ProbeCost cost = run.cost();
  EXPECT_EQ(cost.every, 3);
  EXPECT_EQ(cost.records, 4u);
  ASSERT_TRUE(cost.share);
  EXPECT_GE(*cost.share, 0);
  EXPECT_LE(*cost.share, 1);
  EXPECT_EQ(cost.file, RunFolder{folder.path / "a"}.probes());
}

}  // namespace
}  // namespace addnorm::test
