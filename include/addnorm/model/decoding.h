// Decoding: sequences in the middle of being written. What generates text knows a model only through it.
#pragma once

#include <cstdint>
#include <span>

#include "addnorm/tensor/tensor.h"

namespace addnorm {

/// A batch of sequences, all of the same length so far. Models make one with a key/value cache, or without, where every step runs
/// the whole prefix again; both give the same logits within the tolerance of a reduction.
class Decoding {
 public:
  virtual ~Decoding() = default;

  /// Appends the same number of tokens to every row (tokens [rows, count], row by row) and gives the logits after the last one,
  /// [rows, vocabulary]. More tokens than there is room for, or an id outside the vocabulary, is a UsageError.
  virtual Tensor append(std::span<const std::int32_t> tokens) = 0;
  /// Row i becomes a copy of row from[i]; there may be more rows afterwards, or fewer.
  virtual void select(std::span<const std::size_t> from) = 0;
  virtual std::size_t rows() const = 0;
  virtual std::size_t room() const = 0;  ///< tokens that can still be appended to each row
};

}  // namespace addnorm
