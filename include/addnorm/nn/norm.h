// Norm: one module for every kind of norm, so that an arrangement can name a place for it and a user its kind.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "addnorm/autograd/ops.h"
#include "addnorm/nn/module.h"
#include "addnorm/nn/pass.h"

namespace addnorm {

enum class NormFormula : unsigned char {
  none,         ///< x
  layer,        ///< (x - mean) / sqrt(var + eps) * gamma + beta
  rms,          ///< x / sqrt(mean(x^2) + eps) * gamma; with eps outside: x / (sqrt(mean(x^2)) + eps)
  partial_rms,  ///< the same with the mean taken over the first part of the features
  scale,        ///< g * x / max(||x||, eps), one number g
  batch,        ///< per feature over all rows that are not padding; running statistics when not training
  dyt,          ///< gamma * tanh(alpha * x) + beta
  l2,           ///< x / max(||x||, eps)
};

/// A kind of norm, free of its width: what `--norm` names.
struct NormKindOptions {
  NormFormula formula = NormFormula::layer;
  float eps = 1e-5f;
  bool gain = true;                            ///< gamma (layer, rms, batch, dyt)
  bool bias = true;                            ///< beta (layer, batch, dyt)
  bool gain_is_one_plus = false;               ///< the gain is stored as w, and is 1 + w: starts at 0 (Gemma)
  EpsPlace eps_place = EpsPlace::inside_root;  ///< rms
  double part = 1;                             ///< partial_rms: share of the features, 0 < part <= 1
  double alpha = 0.5;                          ///< dyt: where alpha starts
};

/// "layernorm", "rmsnorm", "scalenorm", ... and what people call them; names ignore case, dash and underscore. An unknown name
/// is a UsageError with the nearest one and the list.
NormKindOptions norm_named(std::string_view name);
std::span<const std::string> norm_names();
/// The formula in Unicode: "γ⊙(x−μ)/√(σ²+ε)+β".
std::string formula_of(const NormKindOptions& options);

/// x times a factor: x itself where it is 1.
Var times(const Var& x, const Factor& factor);
/// dropout(f); f itself where p is 0.
Var dropped(const Var& f, const DropoutSpec& dropout);
/// a * x + b * dropout(f) by separate ops: the same bits as the sum that Norm::add gives.
Var residual_sum(const Var& x, const Var& f, const Factor& a = {}, const Factor& b = {}, const DropoutSpec& dropout = {});

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
  bool is_identity() const { return options_.formula == NormFormula::none; }
  const NormKindOptions& options() const { return options_; }
  void visit(Visitor& visitor) override;

 private:
  NormKindOptions options_{.formula = NormFormula::none};
  std::size_t width_ = 0;
  Var gamma_;  // scale: g
  Var beta_;
  Var alpha_;
  mutable Tensor running_mean_;  // batch: moved by a forward pass in training
  mutable Tensor running_var_;
};

}  // namespace addnorm
