// The modules of one matrix: Linear, an affine map; Embedding, a learned vector per token and optionally the way back to logits.
#pragma once

#include <cstdint>
#include <span>

#include "addnorm/autograd/ops.h"
#include "addnorm/nn/module.h"

namespace addnorm {

/// y = f(x W^T + bias), W [out, in] as checkpoints store it, bias [out] or none, f an activation or nothing. Parameters are
/// zero until a rule fills them (init.h). Rows of W may serve several roles: parts name them in order, and add up to `out`.
class Linear : public Module {
 public:
  Linear() = default;
  Linear(std::size_t in, std::size_t out, Role role = Role::weight, bool bias = true);
  Linear(std::size_t in, std::vector<Part> parts, bool bias = true);

  Var operator()(const Var& x, LinearActivation activation = LinearActivation::none) const;
  void visit(Visitor& visitor) override;

  std::size_t in() const { return packed_.defined() ? packed_.in() : weight_.shape()[1]; }
  std::size_t out() const { return packed_.defined() ? packed_.out() : weight_.shape()[0]; }
  Var& weight() { return weight_; }  ///< undefined after pack_weights()
  Var& bias() { return bias_; }

 private:
  std::vector<Part> parts_;
  Var weight_;
  PackedWeight packed_;  // in place of weight_
  Var bias_;
};

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
