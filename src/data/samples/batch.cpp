#include <algorithm>
#include <numeric>

#include "addnorm/data/dataset.h"

namespace addnorm {

std::size_t Batch::counted() const { return labels.size() - static_cast<std::size_t>(std::ranges::count(labels, kIgnoredLabel)); }

std::size_t Batch::tokens() const {
  const auto real = [](const std::vector<std::int32_t>& padded, const std::vector<std::size_t>& without) {
    return without.empty() ? padded.size() : std::accumulate(without.begin(), without.end(), std::size_t{0});
  };
  return real(ids, lengths) + real(target_ids, target_lengths);
}

}  // namespace addnorm
