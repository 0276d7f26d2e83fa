// The kinds of norms: what `--norm` names. The module that computes them is Norm (nn/norm.h).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "addnorm/kernels/add_norm.h"

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

/// A kind of norm, free of its width.
struct NormKindOptions {
  NormFormula formula = NormFormula::layer;
  float eps = 1e-5f;
  bool gain = true;                            ///< gamma (layer, rms, partial_rms, batch, dyt)
  bool bias = true;                            ///< beta (layer, batch, dyt)
  bool gain_is_one_plus = false;               ///< the gain is stored as w, and is 1 + w: starts at 0 (Gemma)
  EpsPlace eps_place = EpsPlace::inside_root;  ///< rms
  double part = 1;                             ///< partial_rms: share of the features, 0 < part <= 1
  double alpha = 0.5;                          ///< dyt: where alpha starts
};

/// "layernorm", "rmsnorm", "scalenorm", ... and their usual names; names ignore case, dash and underscore. An unknown name
/// is a UsageError with the nearest one and the list.
NormKindOptions norm_named(std::string_view name);
std::span<const std::string> norm_names();
/// The formula in Unicode: "γ⊙(x−μ)/√(σ²+ε)+β".
std::string formula_of(const NormKindOptions& options);

}  // namespace addnorm
