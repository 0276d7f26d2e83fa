// Small trainings by the tool, in a folder of their own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "cli/process.h"

namespace addnorm::test {

struct TinyTraining : testing::Test {
  TinyTraining() {
    folder.write("tiny.json", R"({"layers": 2, "d_model": 16, "heads": 2, "seq_len": 16, "batch_size": 4, "log_every": 1,
                                  "seed": 5, "save_every": 1000000, "eval_every": 1000000, "eval_samples": 8})");
  }
  static std::vector<std::string> tiny(const std::vector<std::string>& more) {
    std::vector<std::string> all{"train", "--threads", "2", "--config", "tiny.json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Ended run(std::vector<std::string> arguments, const std::function<void()>& before = {}) const {
    return Process(folder.path, std::move(arguments), "/dev/null", before).end();
  }
  std::filesystem::path at(const std::string& name) const { return folder.path / name; }

  /// The step of the newest checkpoint; 0: there is none.
  std::int64_t saved(const std::string& name) const {
    std::int64_t newest = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(at(name) / "checkpoints", ignored))
      if (entry.path().extension() == ".safetensors")
        newest = std::max<std::int64_t>(newest, std::stoll(entry.path().filename().string().substr(5)));
    return newest;
  }

  TemporaryFolder folder;
};

}  // namespace addnorm::test
