// What a grid keeps on the disk, and reads there: done.json and metrics.jsonl in the folder of a run, predictions, lab.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "addnorm/lab/grid_result.h"

namespace addnorm {

/// Takes in a run that ended before: its done.json has this key, and its metrics and probes are all there. True: it is done. Else
/// it is left alone.
bool found_done(GridRun& run, const Baselines& baselines);
/// Of a process that has ended well, or by numbers that were not finite: reads the losses, judges them, finds the cause and
/// writes done.json. False: steps are missing.
bool take_result(GridRun& run, const Baselines& baselines);
/// Why a run that goes on would not end with a whole result in this folder: run.json or all checkpoints cannot be read,
/// metrics.jsonl lacks a step that the newest checkpoint includes, probes.jsonl has fewer records than done.json says. "":
/// it would.
std::string what_is_damaged(const GridRun& run);
/// Moves the folder away, to the first of NAME.damaged, NAME.damaged-2, ... that is free: nothing is deleted. An Error where a
/// process has it, or the system refuses.
std::filesystem::path set_aside(const GridRun& run, const FieldWords& words);
/// Another grid has had this folder: its lab.json and lab-grid.json stay, as lab-1.json and lab-1-grid.json or the first number
/// that is free. `grid`: the text of the one that is to be run.
void set_aside_other_lab(const std::filesystem::path& folder, const std::string& grid);
/// What a process complained of in its log (what follows the first of `complaints` that is there), or its last line; "": nothing.
std::string last_words(const std::filesystem::path& log, const std::vector<std::string>& complaints);

/// What preflight is asked about a row, for answer_question().
void write_question(const std::filesystem::path& file, const GridRow& row, const std::filesystem::path& cache);
/// Where the prediction for a row is kept: by its options, seeds, the data and the version.
std::filesystem::path prediction_file(const GridResult& result, const RowResult& row);

/// The losses of a run, read from its metrics.jsonl while it is written.
class MetricsTail {
 public:
  explicit MetricsTail(std::filesystem::path file) : file_(std::move(file)) {}
  /// Takes in the lines that are new; true: there were some. A file that has become shorter is read again from its start.
  bool look();

  const std::vector<double>& losses() const { return losses_; }  ///< of step 1, 2, ...; NaN where there is none
  std::size_t first_missing(std::size_t last) const;             ///< of steps 1 ... last, without a line; 0: none
  const std::string& stopped() const { return stopped_; }        ///< why the run ended early, by its numbers; "": it did not

 private:
  void take(const std::string& line);
  void read_anew();  // all of it

  std::filesystem::path file_;
  std::uint64_t read_to_ = 0;
  std::string begun_;  // a line without its end
  std::vector<double> losses_;
  std::vector<bool> there_;  // whether it has a line
  std::string stopped_;
};

}  // namespace addnorm
