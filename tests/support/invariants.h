// Stacks in the tests of invariants: shapes, residuals in double, and what is read from them.
#pragma once

#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/residual.h"
#include "support/gradients.h"
#include "support/modules.h"
#include "support/random_branches.h"
#include "support/stream_runs.h"

namespace addnorm::test {

constexpr std::size_t kWidth = 6;
constexpr std::size_t kWide = 128;

inline StackShape shape_of(std::size_t layers, std::size_t width = kWidth) { return {.width = width, .layers = layers}; }
/// One branch per layer: what is said of depth in units holds of layers then.
inline StackShape ffn_only(std::size_t layers, std::size_t width = kWide) {
  return {.width = width, .layers = layers, .sub_layers = {SubLayer::ffn}};
}
inline const ResidualOptions kNoEps{.norm = norm_named("layernorm-noeps")};

inline std::unique_ptr<Residual> in_double(const char* name, const StackShape& shape, const ResidualOptions& options = {}) {
  auto residual = make_residual(name, shape, options);
  convert(*residual, DType::f64);
  return residual;
}
inline Var normed(const Var& x) { return layer_norm(x, Var(), Var(), {.eps = 0}); }
inline Var silent(const Unit&, const Var& u) { return scale(u, 0); }
inline void expect_same(const Var& got, const Var& want) {
  EXPECT_SAME_BITS(got.value().values<float>(), want.value().values<float>());
}

/// The learned coefficients, in the order of units.
inline std::vector<Var> coefficients(Residual& residual) {
  std::vector<Var> all;
  for_each_parameter(residual, [&](Parameter& p) {
    if (p.role == Role::coefficient) all.push_back(p.value);
  });
  return all;
}

}  // namespace addnorm::test
