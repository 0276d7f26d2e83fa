// Running a grid: predictions first, then every run as its own process, at most as many at once as there are processors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "addnorm/lab/grid_result.h"

namespace addnorm {

/// Hears how a grid goes. `so_far` holds everything that is known; indices are of its rows and runs. It must not throw.
class GridObserver {
 public:
  virtual ~GridObserver() = default;
  virtual void on_plan(const GridResult& /*so_far*/) {}  ///< everything was checked; runs that are there already are done
  virtual void on_predicted(const GridResult& /*so_far*/, std::size_t /*row*/) {}
  virtual void on_all_predicted(const GridResult& /*so_far*/) {}
  virtual void on_run_started(const GridResult& /*so_far*/, std::size_t /*run*/) {}
  virtual void on_progress(const GridResult& /*so_far*/, std::size_t /*run*/) {}  ///< its losses have grown
  virtual void on_run_done(const GridResult& /*so_far*/, std::size_t /*run*/) {}  ///< or failed, or stopped
  virtual void on_row_added(const GridResult& /*so_far*/, std::size_t /*row*/) {}
  virtual void on_wait(const GridResult& /*so_far*/) {}  ///< some times a second
  virtual bool go_on() { return true; }                  ///< some times a second; false: runs save and end
};

/// What a process that trains is asked: train_run_with_probes with resume_or_start, and nothing on its standard output.
struct GridTraining {
  std::filesystem::path options{};  ///< file for run_options_from_json
  std::filesystem::path folder{};   ///< of the run
  std::filesystem::path cache{};    ///< of tokenised text
  int threads = 1;
};
/// What a process that predicts is asked: answer_question(question, answer).
struct GridPrediction {
  std::filesystem::path question{}, answer{};
  int threads = 1;
};

/// The program whose processes a grid starts. The library knows no command line: the caller that has one fills in the words.
struct GridProgram {
  std::filesystem::path path{};
  std::function<std::vector<std::string>(const GridTraining&)> train{};
  std::function<std::vector<std::string>(const GridPrediction&)> predict{};
  /// What an error message of its processes begins with in their output ("addnorm train: "): what follows is shown as the reason.
  std::vector<std::string> complaints{};
};

struct GridRequest {
  GridSpec spec{};
  std::filesystem::path folder{};  ///< of all runs; is made
  GridProgram program{};
  std::filesystem::path cache{};  ///< of tokenised text; empty: in the folder
  int threads = 0;                ///< 0: what is granted
  int at_once = 0;                ///< runs at a time; 0: one per thread while there are so many, as far as memory goes
  bool predict = true;
  bool run = true;                       ///< false: predictions only
  std::string result_file = "lab.json";  ///< in the folder, beside it what was asked for, in lab-grid.json; "": neither
  bool confirm = true;                   ///< run what would confirm a cause, where the grid has no such row
  double confirm_seconds = 120;          ///< most time for that, roughly: by what runs of that size took
};

/// Nothing starts before everything is checked: a UsageError or DataError names the row. Another process that has the folder: an
/// Error. A run that fails is reported in its row and does not stop the others. Runs that are in the folder already (same
/// options, data and version) are not run again; one that was stopped goes on. Ends with the result in the folder, also when
/// go_on() said no.
///
/// Cost: of the runs. This process only waits: it computes nothing but what its checks need (texts are tokenised once).
/// Children are in their own process groups, get SIGTERM when this process or the calling thread ends, and have SIGINT,
/// SIGTERM and SIGHUP unblocked.
GridResult run_grid(const GridRequest& request, GridObserver& observer);

/// What a process does that GridProgram::predict starts: reads a question of run_grid, asks preflight, writes the answer.
void answer_question(const std::filesystem::path& question, const std::filesystem::path& answer,
                     const FieldWords& words = nullptr);

}  // namespace addnorm
