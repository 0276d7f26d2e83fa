// Runs that version 0.1.0 began: its records have nothing of how weights start, and they go on as they began.
#include <gtest/gtest.h>

#include "addnorm/train/checkpoint.h"
#include "addnorm/train/run_folder.h"
#include "addnorm/train/weights.h"
#include "core/json/json.h"
#include "train/run/runs.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::Runs;
using test::Watcher;

/// As version 0.1.0 wrote them.
void take_off_start(Json& options) {
  for (const char* name : {"init", "init_std", "embedding_std", "position_std", "branch_scale"}) options.erase(name);
}

struct EarlierRuns : Runs {
  /// Of a run that was stopped, all its records.
  void make_earlier(const std::string& name) const {
    const RunFolder run{folder.path / name};
    Json record = parsed(test::text_of(run.record()), "run.json");
    take_off_start(record["options"]);
    record.erase("initialisation");
    test::write_text(run.record(), record.dump());
    for (const fs::path& file : CheckpointFolder(run.checkpoints()).files()) {
      Snapshot snapshot = CheckpointFolder::read(file);
      Json all = parsed(snapshot.record, "a checkpoint");
      take_off_start(all["options"]);
      snapshot.record = all.dump();
      fs::remove(file);
      CheckpointFolder(run.checkpoints()).save(snapshot);
    }
  }
  void begin(const std::string& name, const std::string& options) const {
    Watcher until(10);
    train_run(request(name, options), until);
    make_earlier(name);
  }
};

TEST_F(EarlierRuns, GoOnAsTheirArrangementPrescribes) {
  const std::string options = R"("steps": 20, "arrangement": "deepnorm")";
  Watcher straight, rest, again;
  train_run(request("whole", options), straight);
  begin("a", options);
  EXPECT_EQ(read_run_record({folder.path / "a"}).options.find("\"init\""), std::string::npos);
  const std::string refused = refusal(request("a", options + R"(, "init": "gpt2")", true));
  EXPECT_NE(refused.find(R"(init: "arrangement" in the run, "gpt2" now)"), std::string::npos) << refused;
  train_run(request("a", options, true), rest);
  EXPECT_EQ(rest.losses.size(), 10u);
  EXPECT_TRUE(weights("a") == weights("whole"));
  EXPECT_TRUE(load_model(folder.path / "a")->config().init.by_arrangement());
  EXPECT_NE(read_run_record({folder.path / "a"}).initialisation.find(R"("rule":"deepnorm")"), std::string::npos);
  begin("b", options);
  EXPECT_TRUE(train_run(request("b", options + R"(, "init": "arrangement")", true), again).finished);
}

// What 0.1.0 made of {"model_type": "opt", "init_std": 0.04, ...}; today it is --init bert --init-std 0.04.
constexpr const char* kOwnStart = R"("steps": 20, "own_arrangement": {"name": "pre-ln", "unit": {"in": true}, "exit": true,
    "init": {"base": "normal", "deviation": 0.04}, "source": "Tensor2Tensor", "year": 2018, "aliases": ["pre-norm"]})";

TEST_F(EarlierRuns, OfAModelOfHuggingFaceGoOnByTheSameCommand) {
  const auto now = [](const char* arrangement, const char* init) {
    return concat(R"("steps": 20, "arrangement": ")", arrangement, R"(", )", init);
  };
  Watcher straight, rest;
  train_run(request("whole", kOwnStart), straight);
  begin("a", kOwnStart);
  const std::string same = now("pre-ln", R"("init": "bert", "init_std": 0.04)");
  Watcher fresh;
  train_run(request("fresh", same), fresh);
  EXPECT_TRUE(weights("fresh") == weights("whole")) << "the two begin alike";
  EXPECT_NE(refusal(request("a", now("pre-ln", R"("init": "bert", "init_std": 0.05)"), true)).find("\n  init_std: "),
            std::string::npos);
  EXPECT_NE(refusal(request("a", now("pre-ln", R"("init": "gpt2", "init_std": 0.04)"), true)).find("\n  init: "),
            std::string::npos);
  EXPECT_NE(refusal(request("a", now("post-ln", R"("init": "bert", "init_std": 0.04)"), true)).find("\n  arrangement: "),
            std::string::npos);
  EXPECT_NE(refusal(request("a", same + R"(, "dropout": 0.5)", true)).find("\n  dropout: "), std::string::npos);
  EXPECT_TRUE(train_run(request("a", same, true), rest).finished);
  EXPECT_EQ(rest.losses.size(), 10u);
  EXPECT_TRUE(weights("a") == weights("whole"));
}

TEST_F(EarlierRuns, WithAnOwnRowOfTodayAreComparedByTheirOptions) {
  Watcher until(10);
  train_run(request("a", kOwnStart), until);  // its record has an init
  const std::string refused = refusal(request("a", R"("steps": 20, "init": "bert", "init_std": 0.04)", true));
  EXPECT_NE(refused.find(R"(init: "arrangement" in the run, "bert" now)"), std::string::npos) << refused;
}

}  // namespace
}  // namespace addnorm
