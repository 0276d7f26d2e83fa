// A whole run, as small as can be, and what must hold after memory ran out in it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <new>
#include <string>

#include "addnorm/core/parallel.h"
#include "addnorm/tensor/arena.h"
#include "addnorm/train/checkpoint.h"
#include "addnorm/train/run.h"
#include "support/faults/failing_new.h"
#include "support/faults/faulty_disk.h"
#include "support/folder.h"

namespace addnorm::test {

/// Three steps of a language model of some hundred parameters on a text of its own; a measurement and a save after the second
/// one and at the end.
class FailingRun : public testing::Test {
 protected:
  FailingRun() : threads_(threads()) {
    skip_syncs = true;
    set_threads(1);
    std::string text;
    for (int i = 0; i < 30; ++i) text += i % 3 == 0 ? "abba\n" : "baba\n";
    const std::string data = folder_.write("text.txt", text).string();
    given_ = run_options_from_json(
        R"({"layers": 1, "d_model": 4, "heads": 1, "seq_len": 4, "batch_size": 2, "steps": 3, "eval_every": 2, "save_every": 2,
            "eval_samples": 2, "norm": "batchnorm", "dropout": 0.1, "data": [")" +
            data + "\"]}",
        "the test");
    run();
    want_ = weights();
    std::filesystem::remove_all(folder());
    open_ = open_files();
  }
  ~FailingRun() override {
    skip_syncs = false;
    set_threads(threads_);
  }

  /// Begins the run, or goes on with what there is. The text is read anew: its cache is in the folder too.
  void run() {
    const RunRequest request{.folder = folder(), .given = given_, .resume_or_start = true};
    RunObserver nobody;
    EXPECT_TRUE(train_run(request, nobody).finished);
  }

  /// run() while something fails: it ends in success (true), std::bad_alloc or an Error.
  template <class Failing>
  bool run_with(std::size_t number) {
    try {
      const Failing failing(number);
      run();
      return true;
    } catch (const std::bad_alloc&) {
    } catch (const Error&) {
    }
    return false;
  }

  /// The folder is unlocked, and what is there is whole. The run can go on from there, and ends as if nothing had happened.
  void expect_that_nothing_is_lost() {
    EXPECT_EQ(open_files(), open_);
    if (std::filesystem::exists(folder())) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(folder()))
        EXPECT_EQ(entry.path().string().find(".tmp."), std::string::npos) << entry.path();
      for (const auto& file : CheckpointFolder(folder() / "checkpoints").files())
        EXPECT_NO_THROW(CheckpointFolder::read(file)) << file;
      EXPECT_NO_THROW(RunLock lock(folder()));
    }
    EXPECT_NO_THROW(run());
    EXPECT_TRUE(weights() == want_);
    std::filesystem::remove_all(folder());
  }

  /// Allocation `first`, first + stride, first + 2 * stride, ... of the run fails, until it makes fewer. How many it makes, to
  /// within a stride.
  std::size_t with_failing_allocations(std::size_t stride, std::size_t first = 0) {
    for (std::size_t number = first;; number += stride) {
      SCOPED_TRACE(concat("allocation ", number));
      run_with<FailingAllocation>(number);
      const bool happened = FailingAllocation::happened();
      expect_that_nothing_is_lost();
      if (!happened || HasFailure()) return number;
    }
  }

  std::filesystem::path folder() const { return folder_.path / "run"; }

 private:
  static std::size_t open_files() { return entries("/proc/self/fd"); }
  std::string weights() const { return text_of(folder() / "model.safetensors"); }

  TemporaryFolder folder_;
  GivenOptions given_;
  std::string want_;
  std::size_t open_ = 0;
  int threads_;
};

}  // namespace addnorm::test
