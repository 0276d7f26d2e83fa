// Curves over training steps, short enough to be drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "report/record_file.h"

namespace addnorm {

/// What a line of metrics.jsonl says of a training step; NaN where it says nothing, or a number that is not finite.
struct StepMetrics {
  std::uint64_t step = 0;
  double loss, gradient_norm, learning_rate, seconds, tokens;
};

struct Metrics {
  std::vector<StepMetrics> steps;  ///< ascending
  std::vector<std::uint64_t> validation_steps;
  std::vector<double> validation_losses;
  std::string stopped;  ///< why the run broke off; "": it did not
  LineFlaws flaws{};    ///< lines that are left out
};
/// Steps that were rolled back are left out. DataError where the file cannot be read.
Metrics read_metrics(const std::filesystem::path& file);

/// Steps in blocks of equal length, the last one perhaps shorter: for each its last step.
std::vector<std::uint64_t> block_ends(const Metrics& metrics, std::size_t most);

/// Values of each block (previous end, end] as one: null where one of them is not finite, or there is none.
enum class Of { mean, least, most };
Json by_block(const Metrics& metrics, const std::vector<std::uint64_t>& ends, double StepMetrics::*field, Of of = Of::mean);

/// {"step", "loss"} of at most `most` points: neighbours are joined to their mean, weighted by their steps. A curve that is
/// damaged (lists of unequal length, steps that do not ascend) is {"step": [], "loss": []}.
Json shorter_curve(const Json& curve, std::size_t most);
/// Last steps of the blocks of a curve.
std::vector<std::uint64_t> ends_of(const Json& curve);

/// "curve", "gradient_curve", "rate_curve" of a run in blocks with these ends; the last two only where something was recorded.
/// Where blocks have several steps, the curve also has the "least" and "most" loss of each, so that no spike is lost in its mean.
void put_curves(const Metrics& metrics, const std::vector<std::uint64_t>& ends, bool with_loss, Json& run);

}  // namespace addnorm
