// The fused Add & Norm inside the library: unchecked; contracts as in include/addnorm/kernels/add_norm.h.
#pragma once

#include <cstddef>

#include "kernels/reduce/reduce.h"
#include "kernels/reference/add_norm.h"

namespace addnorm::kernels {

/// Narrower rows go through forward in groups.
inline constexpr std::size_t kNarrowWidth = 256;

void add_norm(NormKind kind, const AddNorm& args);
inline void add_norm(NormKind kind, const AddNormArgs<double>& args) { reference::add_norm(kind, args); }

/// Floats of scratch that add_norm_grad needs: at most five rows per block of 64.
std::size_t add_norm_grad_scratch(const AddNormGrad& args);
void add_norm_grad(NormKind kind, const AddNormGrad& args, float* scratch);
inline std::size_t add_norm_grad_scratch(const AddNormGradArgs<double>&) { return 0; }
inline void add_norm_grad(NormKind kind, const AddNormGradArgs<double>& args, double*) { reference::add_norm_grad(kind, args); }

// What follows is shared by the two kernel files.

/// Streaming stores pay when the arrays leave the cache anyway, and need rows that start on cache lines.
bool use_streaming(const AddNorm& args);
bool use_streaming(const AddNormGrad& args);

/// Where one block of rows adds up its share; null where not wanted.
struct GradPartials {
  float* dgamma;
  float* dbeta;
  float* da;
  float* db;
  float* row;  ///< one row of room when dx and df differ
};

/// How the scratch is divided: per block the wanted partial rows, one after the other.
struct GradLayout {
  explicit GradLayout(const AddNormGrad& args);
  GradPartials block(float* scratch, std::size_t index) const;

  std::size_t blocks;
  std::size_t block_floats;
  bool spread;  ///< dx and df are not simply the total gradient
  bool dgamma, dbeta, da, db;
  std::size_t row_floats;  ///< width, rounded up to a cache line
};

/// RMS norm with eps outside the root: mean(g * xhat) counts (r + eps) / r times, r = 1 / rstd - eps; else once.
inline double outside_root_factor(bool layer, const AddNormGrad& args, std::size_t row) {
  if (layer || args.eps_place == EpsPlace::inside_root) return 1.0;
  const double with_eps = 1.0 / static_cast<double>(args.rstd[row]);
  const double root = with_eps - static_cast<double>(args.eps);
  return root > 0 ? with_eps / root : 0.0;  // a row of zeros: xhat is 0, and so is the term
}

}  // namespace addnorm::kernels
