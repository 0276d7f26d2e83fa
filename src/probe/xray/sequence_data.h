// Sequences of ids as a model reads them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "addnorm/data/dataset.h"

namespace addnorm {

using Sequence = std::vector<std::int32_t>;

/// Sequences of ids, padded at their ends; a language model's are one token longer than what it reads.
class SequenceData final : public Dataset {
 public:
  SequenceData(std::vector<Sequence> sequences, bool next_token) : sequences_(std::move(sequences)), next_(next_token ? 1 : 0) {}
  Batch batch(std::uint64_t first, std::size_t count) const override {
    Batch all{.first = first, .sequences = count};
    std::size_t longest = 0;
    for (std::size_t i = 0; i < count; ++i) longest = std::max(longest, sequences_[first + i].size() - next_);
    for (std::size_t i = 0; i < count; ++i) {
      const Sequence& one = sequences_[first + i];
      const std::size_t length = one.size() - next_;
      for (std::size_t t = 0; t < longest; ++t) {
        all.ids.push_back(t < length ? one[t] : one.front());  // any id is as good
        all.labels.push_back(next_ == 1 && t < length ? one[t + 1] : kIgnoredLabel);
      }
      all.lengths.push_back(length);
    }
    if (std::ranges::all_of(all.lengths, [&](std::size_t l) { return l == longest; })) all.lengths.clear();
    return all;
  }
  std::uint64_t size() const override { return sequences_.size(); }
  std::size_t length(std::size_t i) const { return sequences_[i].size(); }

 private:
  std::vector<Sequence> sequences_;
  std::size_t next_;
};

/// Batches of some thousand tokens, padding included, in the order of the samples. `lengths`: of which `data` is made.
inline std::vector<Batch> batches_of(const Dataset& data, const SequenceData& lengths) {
  constexpr std::size_t kBatchTokens = 4096;
  std::vector<Batch> all;
  for (std::size_t first = 0; first < data.size();) {
    std::size_t count = 1, longest = lengths.length(first);
    while (first + count < data.size()) {
      longest = std::max(longest, lengths.length(first + count));
      if ((count + 1) * longest > kBatchTokens) break;
      ++count;
    }
    all.push_back(data.batch(first, count));
    first += count;
  }
  return all;
}

}  // namespace addnorm
