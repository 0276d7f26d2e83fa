#include "cli/models/placement_check.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "probe/training/roles.h"

namespace addnorm::cli {
namespace {

constexpr std::size_t kMostTokens = 512;

/// Rows of at most so many tokens.
Batch cut_to(Batch batch, std::size_t most) {
  const std::size_t length = batch.ids.size() / batch.sequences;
  if (length <= most) return batch;
  Batch cut{.first = batch.first, .sequences = batch.sequences};
  for (std::size_t row = 0; row < batch.sequences; ++row) {
    const auto at = static_cast<std::ptrdiff_t>(row * length), end = at + static_cast<std::ptrdiff_t>(most);
    cut.ids.insert(cut.ids.end(), batch.ids.begin() + at, batch.ids.begin() + end);
    cut.labels.insert(cut.labels.end(), batch.labels.begin() + at, batch.labels.begin() + end);
  }
  for (const std::size_t l : batch.lengths) cut.lengths.push_back(std::min(l, most));
  return cut;
}

void put_back_masked(Batch& batch) {
  for (std::size_t i = 0; i < batch.ids.size(); ++i)
    if (batch.labels[i] != kIgnoredLabel) batch.ids[i] = batch.labels[i];
}

}  // namespace

Placement placement_on(const RunModel& run, const Batch& batch, const std::function<bool()>& go_on) {
  const ModelConfig& config = run.model->config();
  const bool cheap = config.model == ModelKind::encoder && !config.head;
  const std::size_t per_sequence = std::max<std::size_t>(1, batch.tokens() / batch.sequences);
  const std::size_t some = cheap ? batch.sequences : std::clamp<std::size_t>(kMostTokens / per_sequence, 1, batch.sequences);
  Batch tried = sequences_of(batch, 0, some);
  if (!cheap && batch.target_ids.empty()) tried = cut_to(std::move(tried), kMostTokens);
  PlacementSample sample{.tokens = {.ids = tried.ids, .batch = tried.sequences, .lengths = tried.lengths}};
  if (!tried.target_ids.empty())
    sample.target = {.ids = tried.target_ids, .batch = tried.sequences, .lengths = tried.target_lengths};
  if (run.tokenizer) sample.mask = run.tokenizer->special().mask;
  return {detect_placement(*run.model, sample, go_on), tried.tokens()};
}

Placement placement_on(const RunModel& run, const Dataset& data, const std::function<bool()>& go_on) {
  const std::size_t length = std::max<std::size_t>(1, data.batch(0, 1).ids.size());
  const std::uint64_t rows = std::clamp<std::uint64_t>(kMostTokens / length, 1, std::max<std::uint64_t>(1, data.size()));
  Batch batch = data.batch(0, static_cast<std::size_t>(rows));
  if (run.model->config().model == ModelKind::encoder) put_back_masked(batch);
  return placement_on(run, batch, go_on);
}

std::string warning_of(const PlacementFinding& found) {
  if (found.agrees) return "";
  if (found.warnings.empty())
    return concat("the config says ", found.configured, ", but the weights behave as ", found.behaves_as);
  std::string all;
  for (const std::string& warning : found.warnings) all += (all.empty() ? "" : "; and ") + warning;
  return all;
}

}  // namespace addnorm::cli
