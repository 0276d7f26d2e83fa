#include "kernels/reduce/softmax.h"

#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/core/parallel.h"
#include "autograd/check.h"
#include "kernels/elementwise/elementwise.h"

namespace addnorm {
namespace {

void check_weights(const Tensor& weights, const Var& logits) {
  const std::size_t classes = logits.shape().back();
  require(weights.shape() == Shape{classes}, "cross_entropy: class_weights is ", weights.shape(), ", logits are ", logits.shape(),
          "; one weight per class is needed");
  detail::require_same_dtype("cross_entropy", "class_weights", weights.dtype(), "logits", logits.dtype());
  const Tensor wide = weights.to(DType::f64);
  for (std::size_t c = 0; c < classes; ++c)
    require(std::isfinite(wide.data<double>()[c]) && wide.data<double>()[c] >= 0, "cross_entropy: the weight of class ", c,
            " is ", wide.data<double>()[c], "; weights are finite and not negative");
}

void check(const Var& logits, std::span<const std::int32_t> targets, const CrossEntropyOptions& options) {
  detail::require_defined("cross_entropy", "logits", logits);
  require(logits.shape().rank() >= 1 && logits.shape().back() >= 1, "cross_entropy: logits are ", logits.shape(),
          "; the last axis holds the classes, at least one");
  const auto [rows, classes] = as_rows(logits.shape());
  require(targets.size() == rows, "cross_entropy: ", targets.size(), " targets for logits ", logits.shape(), ", which have ",
          rows, " rows");
  require(options.label_smoothing >= 0 && options.label_smoothing <= 1, "cross_entropy: label_smoothing is ",
          options.label_smoothing, "; 0 to 1 is allowed");
  require_one_of("cross_entropy", "reduction", options.reduction, "Reduction", {"mean", "sum", "none"});
  for (std::size_t r = 0; r < rows; ++r) {
    const std::int32_t t = targets[r];
    require(t == options.ignore_index || (t >= 0 && static_cast<std::size_t>(t) < classes), "cross_entropy: target ", r, " is ",
            t, "; allowed are 0 to ", classes - 1, " and the ignore index ", options.ignore_index);
  }
  if (options.class_weights.defined()) check_weights(options.class_weights, logits);
}

constexpr std::size_t kBlock = 16384;  // elements: some microseconds of work

/// gradient[r, :] * dy[r], or everything times the one dy there is.
Tensor times_upstream(const Tensor& gradient, const Tensor& dy) {
  if (dy.elements() == 1 && dy.item() == 1) return gradient;
  const auto [rows, classes] = as_rows(gradient.shape());
  Tensor dx(gradient.shape(), gradient.dtype());
  dispatch(gradient.dtype(), [&, rows = rows, classes = classes](auto zero) {
    using T = decltype(zero);
    if (dy.shape().rank() == 0) return kernels::scale(gradient.data<T>(), dy.data<T>()[0], gradient.elements(), dx.data<T>());
    const T *g = gradient.data<T>(), *factor = dy.data<T>();
    T* out = dx.data<T>();
    parallel_ranges(rows, 1 + kBlock / classes, [=](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r)
        for (std::size_t c = 0; c < classes; ++c) out[r * classes + c] = g[r * classes + c] * factor[r];
    });
  });
  return dx;
}

Shape without_last_axis(const Shape& shape) { return Shape(std::span(shape.begin(), shape.rank() - 1)); }

/// One loss per row, or their sum in row order times `scale`.
Tensor reduced(const Tensor& losses, Reduction reduction, double scale, const Shape& rows_shape, DType dtype) {
  if (reduction == Reduction::none) return losses.to(dtype).reshape(rows_shape);
  double sum = 0;
  for (const double loss : losses.values<double>()) sum += loss;
  return Tensor::full({}, scale == 0 ? 0.0 : sum * scale, dtype);
}

}  // namespace

Var cross_entropy(const Var& logits, std::span<const std::int32_t> targets, const CrossEntropyOptions& options) {
  check(logits, targets, options);

  const auto [rows, classes] = as_rows(logits.shape());
  const bool wanted = grad_enabled() && logits.requires_grad();
  Tensor losses({rows}, DType::f64), dlogits;
  if (wanted) dlogits = Tensor(logits.shape(), logits.dtype());
  double scale = 1;
  dispatch(logits.dtype(), [&, rows = rows, classes = classes](auto zero) {
    using T = decltype(zero);
    kernels::CrossEntropyArgs<T> args{.rows = rows, .classes = classes, .logits = logits.data<T>(), .targets = targets.data()};
    if (options.class_weights.defined()) args.class_weights = options.class_weights.data<T>();
    args.ignore_index = options.ignore_index;
    args.label_smoothing = options.label_smoothing;
    if (options.reduction == Reduction::mean) {
      const double weight = kernels::target_weight(args);
      scale = weight > 0 ? 1 / weight : 0;
    }
    args.gradient_scale = scale;
    args.losses = losses.data<double>();
    if (wanted) args.dlogits = dlogits.data<T>();
    kernels::cross_entropy(args);
  });

  return record("cross_entropy", {logits},
                reduced(losses, options.reduction, scale, without_last_axis(logits.shape()), logits.dtype()),
                [dlogits](const Tensor& dy, Grads& grads) { grads.give(0, times_upstream(dlogits, dy)); });
}

}  // namespace addnorm
