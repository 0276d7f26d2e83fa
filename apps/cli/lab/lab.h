// addnorm lab: parts that its files share.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/lab/grid_run.h"
#include "cli/terminal/command.h"
#include "cli/terminal/terminal.h"

namespace addnorm::cli {

/// Options of `train`, each of which may be a list here.
class GridCollector {
 public:
  GridCollector();
  ~GridCollector();
  /// In --help: `lists` of values, or one each.
  void declare(Command& command, bool lists = true);
  /// The grid of the file, under what the command line says of every row; without a file, that of the command line: the lists are
  /// combined, and where neither arrangements nor depths nor warm-ups are named, it is the default lab.
  GridSpec spec(const std::filesystem::path& file, std::optional<std::size_t> seeds, std::size_t with_warmup) const;
  /// As one configuration, without those that the caller says itself: nothing may be a list.
  std::string one(const std::vector<std::string>& without) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// What commands that run a grid have in common.
struct GridPlace {
  std::filesystem::path out = "runs/lab", cache{};
  int threads = 0, at_once = 0;
  bool json = false;
  void declare(Command& command);
  /// Runs are this program again.
  GridRequest request(GridSpec spec) const;
};

/// What a person sees while a grid runs: predictions, then runs, live. Everything goes to `out` (the standard error): lines now
/// and then in a pipe, and on a terminal the running ones below them.
class LabView : public GridObserver {
 public:
  LabView(std::ostream& out, Terminal terminal, bool headings = true);

  void on_plan(const GridResult& so_far) override;
  void on_predicted(const GridResult& so_far, std::size_t row) override;
  void on_all_predicted(const GridResult& so_far) override;
  void on_run_started(const GridResult& so_far, std::size_t run) override;
  void on_run_done(const GridResult& so_far, std::size_t run) override;
  void on_row_added(const GridResult& so_far, std::size_t row) override;
  void on_wait(const GridResult& so_far) override;
  bool go_on() override;
  void wipe();  ///< what is live, before anybody else writes

 private:
  using Clock = std::chrono::steady_clock;
  void line(const std::string& text);
  void draw(const GridResult& so_far);
  std::string running_line(const GridResult& so_far, std::size_t run) const;
  std::string total_line(const GridResult& so_far) const;
  std::string cut(const std::string& text) const;
  double seconds_left(const GridResult& so_far) const;
  std::size_t predicted_ = 0;

  std::ostream& out_;
  Terminal terminal_;
  bool headings_;
  Clock::time_point begun_, drawn_, printed_;
  bool runs_begun_ = false;
  double work_before_ = 0;  // done when the first run of this grid began
  std::size_t live_lines_ = 0;
};

/// Losses as a line of blocks, one per interval: high is bad. `columns` of them at most; "" where there is no loss yet.
std::string loss_line(const std::vector<double>& losses, const Baselines& baselines, std::size_t columns, bool unicode);

/// Everything about the rows, for people: on the standard output.
std::string lab_table(const GridResult& result, const Terminal& terminal);
/// Predicted against happened, where there are enough rows for it; "".
std::string confusion_table(const GridResult& result);
/// Three commands that fit the result.
std::vector<std::string> next_commands(const GridResult& result);
/// Preflight's answers, row by row.
std::string prediction_table(const GridResult& result, const Terminal& terminal);

}  // namespace addnorm::cli
