#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/data/dataset.h"
#include "data/samples/count_entropy.h"

namespace addnorm {

Baselines label_baselines(const Dataset& data, std::uint64_t most) {
  constexpr std::uint64_t kAtOnce = 256;
  const std::uint64_t samples = data.size() > 0 ? std::min(data.size(), most) : most;
  std::unordered_map<std::int32_t, std::uint64_t> counts;
  for (std::uint64_t first = 0; first < samples; first += kAtOnce) {
    const Batch batch = data.batch(first, static_cast<std::size_t>(std::min(kAtOnce, samples - first)));
    for (const std::int32_t label : batch.labels)
      if (label != kIgnoredLabel) ++counts[label];
  }
  require(!counts.empty(), "label_baselines: none of ", samples, " samples has a label");
  std::vector<std::uint64_t> sorted;  // sums of the same numbers in another order have other last digits
  for (const auto& [label, count] : counts) sorted.push_back(count);
  std::ranges::sort(sorted);
  CountEntropy unigram;
  for (const std::uint64_t count : sorted) unigram.add(count);
  constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
  return {.floor = kNotKnown,
          .uniform = std::log(static_cast<double>(counts.size())),
          .unigram = unigram.value(),
          .bigram = kNotKnown};
}

}  // namespace addnorm
