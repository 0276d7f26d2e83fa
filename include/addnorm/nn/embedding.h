// Embedding: a learned vector per token, and optionally the way back to logits.
#pragma once

#include <cstdint>
#include <span>

#include "addnorm/nn/module.h"

namespace addnorm {

/// Rows of a table [vocabulary, width], times sqrt(width) if asked for (Vaswani 2017).
class Embedding : public Module {
 public:
  Embedding() = default;
  Embedding(std::size_t vocabulary, std::size_t width, bool times_sqrt_width = false);

  /// ids [B * T] -> [B, T, width]. An id outside the vocabulary is a UsageError that names its position.
  Var operator()(std::span<const std::int32_t> ids, std::size_t batch) const;
  /// Logits by the same table: x [..., width] -> [..., vocabulary] (a tied head). Not scaled.
  Var logits(const Var& x) const;
  void visit(Visitor& visitor) override;

  bool defined() const { return table_.defined(); }
  std::size_t vocabulary() const { return table_.shape()[0]; }
  std::size_t width() const { return table_.shape()[1]; }

 private:
  Var table_;
  double scale_ = 1;
};

}  // namespace addnorm
