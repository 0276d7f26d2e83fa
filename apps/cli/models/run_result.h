// The output for a run that has ended: a sample, figures, JSON.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "addnorm/train/run.h"

namespace addnorm::cli {

/// Some text of a model just trained, or its answers to some pairs of its data, for a first impression. Models that write
/// nothing: nothing.
void show_sample(const std::filesystem::path& run, const RunData& data, std::ostream& out, std::ostream& notes);

/// The figures of an evaluation that mean something for this kind of model, by their names in JSON, in the order in which a
/// person should read them: loss, perplexity, bits_per_byte, accuracy, exact_match.
std::vector<std::pair<std::string, double>> measures(const Evaluation& evaluation, ModelKind kind, bool pairs);
std::string summary_json(const std::filesystem::path& run, const RunResult& result);

}  // namespace addnorm::cli
