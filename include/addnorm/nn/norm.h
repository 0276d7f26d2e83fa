// Norm: one module for every kind of norm, so that an arrangement can name a place for it and a user its kind.
#pragma once

#include "addnorm/autograd/ops.h"
#include "addnorm/nn/module.h"
#include "addnorm/nn/norm_kind.h"
#include "addnorm/nn/pass.h"

namespace addnorm {

/// x times a factor: x itself where it is 1.
Var times(const Var& x, const Factor& factor);
/// dropout(f); f itself where p is 0.
Var dropped(const Var& f, const DropoutSpec& dropout);
/// a * x + b * dropout(f) by separate ops: the same bits as the sum that Norm::add gives.
Var residual_sum(const Var& x, const Var& f, const Factor& a = {}, const Factor& b = {}, const DropoutSpec& dropout = {});

/// What a norm owns; undefined where its kind has none.
struct NormState {
  Var gamma;  ///< scale: g
  Var beta;
  Var alpha;
  Tensor running_mean;  ///< batch: moved by a forward pass in training
  Tensor running_var;
};

/// A norm of rows of `width` features. Its parameters start so that gain is 1 and bias 0 (scale: g = sqrt(width)).
class Norm : public Module {
 public:
  Norm() = default;  ///< the identity
  Norm(const NormKindOptions& options, std::size_t width);

  Var operator()(const Var& x, const Pass& pass) const;
  /// The residual step: sum = a * x + b * dropout(f), and its norm; one pass over memory where a kernel has both (layer, rms).
  /// The same bits as the steps one by one.
  SumAndNormed add(const Var& x, const Var& f, const Factor& a, const Factor& b, const DropoutSpec& dropout,
                   const Pass& pass) const;
  /// The sum of add() alone: the same bits, of gradients too.
  Var sum(const Var& x, const Var& f, const Factor& a, const Factor& b, const DropoutSpec& dropout) const;
  bool is_identity() const { return options_.formula == NormFormula::none; }
  const NormKindOptions& options() const { return options_; }
  // Its parameters and running statistics as they are, for looking into a model; undefined where this kind has none.
  const NormState& state() const { return own_; }
  const Var& gamma() const { return own_.gamma; }
  const Var& beta() const { return own_.beta; }
  const Var& alpha() const { return own_.alpha; }
  const Tensor& running_mean() const { return own_.running_mean; }
  const Tensor& running_var() const { return own_.running_var; }
  void visit(Visitor& visitor) override;

 private:
  SumAndNormed fused(const Var& x, const Var& f, const Factor& a, const Factor& b, const DropoutSpec& dropout) const;

  NormKindOptions options_{.formula = NormFormula::none};
  mutable NormState own_;  // a forward pass moves running statistics
};

}  // namespace addnorm
