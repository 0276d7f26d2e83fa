// Stacks in the tests of invariants: shapes, residuals in double, and what is read from them.
#pragma once

#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/nn/attention.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/residual.h"
#include "support/gradients.h"
#include "support/modules.h"
#include "support/streams/random_branches.h"
#include "support/streams/stream_runs.h"

namespace addnorm::test {

constexpr std::size_t kWide = 128;

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

/// How far tokens are from being one vector: ||X - 1 mean|| / ||X||.
inline double spread_of_tokens(const Tensor& x) {
  const std::size_t tokens = x.shape()[1], width = x.shape()[2];
  const Tensor values = x.to(DType::f64);
  double off = 0;
  for (std::size_t c = 0; c < width; ++c) {
    double mean = 0;
    for (std::size_t t = 0; t < tokens; ++t) mean += values.values<double>()[t * width + c] / static_cast<double>(tokens);
    for (std::size_t t = 0; t < tokens; ++t) off += std::pow(values.values<double>()[t * width + c] - mean, 2);
  }
  return std::sqrt(off) / length(values);
}

inline std::vector<double> spreads_of_attention(const char* arrangement, std::size_t layers) {
  const StackShape shape{.width = 32, .layers = layers, .sub_layers = {SubLayer::self}};
  std::vector<Attention> attention;
  for (std::size_t i = 0; i < layers; ++i) {
    attention.emplace_back(MultiHeadOptions{.d_model = 32, .heads = 4});
    initialise(attention.back(), xavier_rule, 10 + i);
  }
  Listener listener;
  run_units(
      *make_residual(arrangement, shape), Var(normal_tensor({1, 16, 32}, 1)),
      [&](const Unit& unit, const Var& u) { return attention[unit.layer](u, {}, {}); }, {}, &listener);
  std::vector<double> spreads;
  for (const Var& x : listener.streams) spreads.push_back(spread_of_tokens(x.value()));
  return spreads;
}

/// E x^2 of the stream at every depth.
inline std::vector<double> squares(const char* name, const StackShape& shape, const ResidualOptions& options = {}) {
  Listener listener;
  run_units(*make_residual(name, shape, options), normed(Var(normal_tensor({1, 64, shape.width}, 1))), LinearBranches(shape), {},
            &listener);
  std::vector<double> all;
  for (const Var& x : listener.streams) all.push_back(mean_square(x.value()));
  return all;
}

}  // namespace addnorm::test
