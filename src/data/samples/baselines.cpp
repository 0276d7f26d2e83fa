// What is reached without learning: entropies of tokens and labels as counted.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/data/text_dataset.h"

namespace addnorm {
namespace {

/// ln n - sum c ln c / n over counts c with sum n: the entropy of their shares.
class CountEntropy {
 public:
  void add(std::uint64_t count) {
    if (count == 0) return;
    const auto c = static_cast<double>(count);
    total_ += c;
    weighted_ += c * std::log(c);
  }
  double value() const { return total_ > 0 ? std::max(0.0, std::log(total_) - weighted_ / total_) : 0; }

 private:
  double total_ = 0, weighted_ = 0;
};

class PairCounts {
 public:
  explicit PairCounts(std::size_t vocabulary) : vocabulary_(vocabulary) {
    if (vocabulary <= 4096) cells_.resize(vocabulary * vocabulary);
  }
  void add(std::uint64_t before, std::uint64_t after) {
    const std::uint64_t pair = before * vocabulary_ + after;
    if (cells_.empty())
      ++map_[pair];
    else
      ++cells_[pair];
  }
  double entropy() const {
    CountEntropy entropy;
    for (const std::uint32_t count : cells_) entropy.add(count);
    for (const auto& [pair, count] : map_) entropy.add(count);
    return entropy.value();
  }

 private:
  std::uint64_t vocabulary_;
  std::vector<std::uint32_t> cells_;
  std::unordered_map<std::uint64_t, std::uint32_t> map_;
};

}  // namespace

Baselines text_baselines(const TokenSource& source, TokenRange range, std::size_t vocabulary, std::uint64_t most) {
  require(range.count <= source.size() && range.first <= source.size() - range.count, "text_baselines: tokens ", range.first,
          " ... ", range.first, " + ", range.count, " of a source of ", source.size());
  require(vocabulary > 0, "text_baselines: the vocabulary is 0");
  const std::uint64_t tokens = std::min({range.count, most, std::uint64_t{std::numeric_limits<std::uint32_t>::max()}});
  require(tokens > 1, "text_baselines: ", tokens, " tokens; a pair needs 2");

  std::vector<std::uint64_t> counts(vocabulary), befores(vocabulary);
  PairCounts pairs(vocabulary);
  std::vector<std::int32_t> piece(std::size_t{1} << 16);
  std::uint64_t before = vocabulary;  // none yet
  for (std::uint64_t done = 0; done < tokens;) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), tokens - done));
    source.copy(range.first + done, count, piece.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t id = piece[i];
      if (id < 0 || static_cast<std::size_t>(id) >= vocabulary)
        throw DataError(concat("token ", range.first + done + i, " has id ", id, "; the vocabulary has ", vocabulary));
      const auto now = static_cast<std::uint64_t>(id);
      ++counts[now];
      if (before < vocabulary) {
        ++befores[before];
        pairs.add(before, now);
      }
      before = now;
    }
    done += count;
  }
  CountEntropy unigram, of_befores;
  for (const std::uint64_t count : counts) unigram.add(count);
  for (const std::uint64_t count : befores) of_befores.add(count);
  const auto used = static_cast<double>(std::ranges::count_if(counts, [](std::uint64_t count) { return count > 0; }));
  return {.floor = std::numeric_limits<double>::quiet_NaN(),
          .uniform = std::log(used),
          .unigram = unigram.value(),
          .bigram = std::max(0.0, pairs.entropy() - of_befores.value())};
}

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
