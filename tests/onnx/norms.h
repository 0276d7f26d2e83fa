// Norms, softmax, losses and activations as the ONNX operators define them, by our ops.
#pragma once

#include "addnorm/autograd/ops.h"
#include "addnorm/kernels/add_norm.h"
#include "onnx/case.h"
#include "onnx/layout.h"

namespace addnorm::test::onnx {

using Outputs = std::vector<Tensor>;

/// Axes `axis` to the end are normalised together: they become one. Mean and InvStdDev keep them with size 1.
inline Outputs layer_normalization(const Case& c) {
  const Tensor x = c.in(0).tensor();
  const std::size_t axis = axis_of(x.shape(), c.integer("axis", -1));
  const std::size_t width = product(x.shape(), axis, x.shape().rank()), rows = x.elements() / width;
  const auto eps = static_cast<float>(c.real("epsilon", 1e-5));
  const Tensor gamma = c.in(1).tensor().reshape({width}), beta = c.in(2).tensor().reshape({width});

  Shape kept = x.shape();
  for (std::size_t i = axis; i < kept.rank(); ++i) kept = kept.with(i, 1);
  Tensor y(x.shape()), mean(kept, DType::f64), rstd(kept);
  add_layer_norm({.rows = rows,
                  .width = width,
                  .x = x.data<float>(),
                  .gamma = gamma.data<float>(),
                  .beta = beta.data<float>(),
                  .eps = eps,
                  .y = y.data<float>(),
                  .mean = mean.data<double>(),
                  .rstd = rstd.data<float>()});
  return {y, mean, rstd};
}

inline Outputs rms_normalization(const Case& c) {
  const Tensor x = c.in(0).tensor();
  const std::size_t axis = axis_of(x.shape(), c.integer("axis", -1));
  const std::size_t width = product(x.shape(), axis, x.shape().rank());
  const Var rows(x.reshape({x.elements() / width, width})), gamma(c.in(1).tensor().reshape({width}));
  return {rms_norm(rows, gamma, {.eps = static_cast<float>(c.real("epsilon", 1e-5))}).value().reshape(x.shape())};
}

/// x [N, C, ...], statistics given: C is our last axis.
inline Outputs batch_normalization(const Case& c) {
  const Tensor x = c.in(0).tensor();
  Tensor mean = c.in(3).tensor(), var = c.in(4).tensor();
  const BatchNormOptions options{.eps = static_cast<float>(c.real("epsilon", 1e-5)), .train = false};
  return {axis_back(batch_norm(Var(axis_last(x, 1)), c.var(1), c.var(2), mean, var, options).value(), x.shape(), 1)};
}

template <class Op>
Outputs over_axis(const Case& c, Op op) {
  const Tensor x = c.in(0).tensor();
  const std::ptrdiff_t axis = c.integer("axis", -1);
  return {axis_back(op(Var(axis_last(x, axis))).value(), x.shape(), axis)};
}

inline Outputs lp_normalization(const Case& c) {
  return over_axis(c, [](const Var& x) { return l2_norm(x, 0.0f); });
}

/// Scores [N, C, ...]: classes become the last axis; the targets [N, ...] are in row order then.
inline Outputs softmax_cross_entropy(const Case& c) {
  const Tensor x = c.in(0).tensor();
  const Var logits(axis_last(x, 1));
  const std::vector<std::int64_t> wide = c.in(1).integers();
  const std::vector<std::int32_t> targets(wide.begin(), wide.end());
  const std::string reduction = c.text("reduction", "mean");
  CrossEntropyOptions options{.ignore_index = static_cast<std::int32_t>(c.integer("ignore_index", -100))};
  if (c.has(2)) options.class_weights = c.in(2).tensor();
  options.reduction = reduction == "none" ? Reduction::none : reduction == "sum" ? Reduction::sum : Reduction::mean;
  const Tensor loss = cross_entropy(logits, targets, options).value();
  return {loss.reshape(reduction == "none" ? c.in(1).shape() : Shape{}), axis_back(log_softmax(logits).value(), x.shape(), 1)};
}

inline Outputs gelu_by_name(const Case& c) {
  return {gelu(c.var(0), c.text("approximate", "none") == "tanh" ? GeluForm::tanh : GeluForm::exact).value()};
}

/// Only with ratio 0: a mask of another generator cannot be reproduced.
inline Outputs dropout_of_nothing(const Case& c) {
  return {dropout(c.var(0), static_cast<float>(c.in(1).tensor().item()), RandomKey(0)).value()};
}

}  // namespace addnorm::test::onnx
