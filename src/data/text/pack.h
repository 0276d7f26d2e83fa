// Sequences of different lengths side by side.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "addnorm/data/dataset.h"
#include "addnorm/data/sample_files.h"
#include "addnorm/data/tokenizer.h"

namespace addnorm {

/// Many short sequences in one piece of memory.
class Ragged {
 public:
  std::size_t size() const { return ends_.size(); }
  std::span<const std::int32_t> operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(ids_).subspan(begin, ends_[i] - begin);
  }
  std::uint64_t bytes() const { return ids_.capacity() * sizeof(std::int32_t) + ends_.capacity() * sizeof(std::size_t); }
  void add(std::span<const std::int32_t> ids) {
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    ends_.push_back(ids_.size());
  }

 private:
  std::vector<std::int32_t> ids_;
  std::vector<std::size_t> ends_;
};

struct PairTokens {
  std::int32_t begin, end, pad;
};
/// A UsageError, in the name of `function`, unless the tokenizer has a begin and an end token.
PairTokens pair_tokens(const Tokenizer& tokenizer, const char* function);
/// The id used as padding: the pad token, or the end token, or 0.
std::int32_t padding_of(const Tokenizer& tokenizer);

/// `labels`: target and end token, possibly cut. What a decoder reads is the begin token and the labels but the last.
struct PairRow {
  std::span<const std::int32_t> source;
  std::span<const std::int32_t> labels;
};
Batch packed(std::uint64_t first, std::span<const PairRow> rows, PairForm form, const PairTokens& tokens);

}  // namespace addnorm
