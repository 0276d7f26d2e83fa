// Tiny runs in folders of their own, for the tests of whole runs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "addnorm/train/run.h"
#include "support/folder.h"

namespace addnorm::test {

inline const char* const kTiny =
    R"("layers": 2, "d_model": 16, "heads": 2, "seq_len": 12, "batch_size": 4, "eval_every": 5, "eval_samples": 8,
                             "save_every": 5, "seed": 3)";

inline GivenOptions run_options(const std::string& more = "\"steps\": 20") {
  return run_options_from_json(concat("{", kTiny, more.empty() ? "" : ", ", more, "}"), "the test");
}

/// Stops after some steps, and keeps what it hears.
struct Watcher : RunObserver {
  explicit Watcher(std::int64_t last = 1 << 30) : most(last) {}
  bool go_on() override { return seen < most; }
  void on_step(const StepRecord& record) override {
    seen = record.step;
    losses.push_back(record.loss);
  }
  void on_warning(const std::string& message) override { warnings.push_back(message); }
  void on_validation(std::int64_t, const Evaluation& result, bool) override { validations.push_back(result.loss); }
  std::int64_t most, seen = 0;
  std::vector<double> losses, validations;
  std::vector<std::string> warnings;
};

/// Folders of runs, named by the tests, in one that is gone afterwards.
struct Runs : testing::Test {
  RunRequest request(const std::string& name, const std::string& more = "\"steps\": 20", bool resume = false) const {
    return {.folder = folder.path / name, .cache = folder.path / "cache", .given = run_options(more), .resume = resume};
  }
  std::string weights(const std::string& name) const { return text_of(folder.path / name / "model.safetensors"); }
  static std::string refusal(const RunRequest& request) {
    Watcher watcher;
    try {
      train_run(request, watcher);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::vector<std::string> lines(const std::string& name) const {
    std::ifstream file(folder.path / name / "metrics.jsonl");
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }
  TemporaryFolder folder;
};

/// 60 lines of English, of 38 different characters.
inline std::string story() {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the quick brown fox jumps over the lazy dog number " + std::to_string(i) + "\n";
  return text;
}

}  // namespace addnorm::test
