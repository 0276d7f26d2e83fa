// addnorm lab: parts that its files share.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "addnorm/lab/grid_run.h"
#include "cli/terminal/command.h"
#include "cli/terminal/terminal.h"

namespace addnorm::cli {

/// `addnorm lab claims`: apps/cli/claims/claims.cpp describes it to the command it stands in.
void add_lab_claims(Command& lab);

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
