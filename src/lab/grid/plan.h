// Every row checked and planned before the first run starts: options, data, memory, names of folders.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "addnorm/lab/grid_result.h"
#include "addnorm/train/run_data.h"
#include "addnorm/train/run_options.h"

namespace addnorm {

/// Opens each data once, however many rows use it.
class GridPlanner {
 public:
  /// `cache` of tokenised text. `go_on` is asked while text is read.
  GridPlanner(std::filesystem::path folder, std::filesystem::path cache, std::function<bool()> go_on);

  /// Adds a row and those of its runs that are not there yet: another name for the same start is no other run. Errors name the
  /// row's place.
  void add(const GridRow& row, GridResult& result);
  /// Labels by the options in which rows differ; rows that differ have different labels.
  static void label(GridResult& result);
  /// How many runs of the largest row fit into memory at the same time, 1 at least.
  int fit_at_once() const;
  /// The options of one run, for `train --config`.
  static std::string run_options(const GridRow& row, std::uint64_t seed);

 private:
  struct Opened {
    std::unique_ptr<RunSource> source;
    std::optional<Baselines> baselines;
  };
  Opened& opened_for(const RunOptions& options);
  RunOptions planned_for(const GivenOptions& given, Opened& opened);
  std::filesystem::path folder_for(const RunOptions& options, const std::string& key, const std::string& config) const;
  void add_runs(const GridRow& row, const GivenOptions& given, Opened& opened, GridResult& result, RowResult& planned_row);

  std::filesystem::path folder_, cache_;
  std::function<bool()> go_on_;
  std::map<std::string, Opened> opened_;
  std::map<std::string, std::size_t> alike_;  // runs, by all options and how they start
  double largest_ = 0;                        // bytes of a run
};

/// Files of a run beside those that `train` writes.
inline std::filesystem::path options_file(const GridRun& run) { return run.folder / "options.json"; }
inline std::filesystem::path log_file(const GridRun& run) { return run.folder / "log.txt"; }
inline std::filesystem::path done_file(const GridRun& run) { return run.folder / "done.json"; }

}  // namespace addnorm
