// Sequences of ids as a model reads them; and ids in place of text, for models that have no tokenizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "addnorm/data/dataset.h"

namespace addnorm {

using Sequence = std::vector<std::int32_t>;

/// Sequences of ids, padded at their ends; a language model's are one token longer than what it reads.
class SequenceData final : public Dataset {
 public:
  SequenceData(std::vector<Sequence> sequences, bool next_token) : sequences_(std::move(sequences)), next_(next_token ? 1 : 0) {}
  Batch batch(std::uint64_t first, std::size_t count) const override;
  std::uint64_t size() const override { return sequences_.size(); }
  std::size_t length(std::size_t i) const { return sequences_[i].size(); }

 private:
  std::vector<Sequence> sequences_;
  std::size_t next_;
};

/// Batches of some thousand tokens, padding included, in the order of the samples. `lengths`: of which `data` is made.
std::vector<Batch> batches_of(const Dataset& data, const SequenceData& lengths);

/// The numbers of each line of a file (at most 1 MiB), between blanks or commas. What is no id of the vocabulary is a DataError
/// that names the line; `option` is what it calls the file's option.
std::vector<Sequence> ids_of_lines(const std::string& file, const std::string& option, std::size_t vocabulary);

/// One sequence of `count` ids, each as probable as every other; the same every time.
std::vector<Sequence> drawn_ids(std::size_t vocabulary, std::size_t count);

}  // namespace addnorm
