// What a grid keeps on the disk: done.json in the folder of a run, predictions, lab.json.
#pragma once

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

}  // namespace addnorm
