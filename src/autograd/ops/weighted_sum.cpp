#include <vector>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "kernels/elementwise/elementwise.h"

namespace addnorm {
namespace {

template <class T>
std::vector<const T*> pointers(const std::vector<Tensor>& xs) {
  std::vector<const T*> out;
  for (const Tensor& x : xs) out.push_back(x.data<T>());
  return out;
}

void give_gradients(const Tensor& dy, const std::vector<Tensor>& xs, const Tensor& weights, Grads& grads) {
  const std::size_t count = xs.size(), n = dy.elements();
  const bool dw_wanted = grads.wanted(count);
  std::vector<Tensor> dxs(count);
  Tensor dw({count}, DType::f64), scratch({kernels::weighted_sum_grad_scratch(count, n)}, DType::f64);
  dispatch(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T*> out(count, nullptr);
    for (std::size_t k = 0; k < count; ++k) {
      if (!grads.wanted(k)) continue;
      dxs[k] = Tensor(dy.shape(), dy.dtype());
      out[k] = dxs[k].data<T>();
    }
    kernels::weighted_sum_grad(dy.data<T>(), pointers<T>(xs).data(), weights.data<T>(), count, n, scratch.data<double>(),
                               out.data(), dw_wanted ? dw.data<double>() : nullptr);
  });
  for (std::size_t k = 0; k < count; ++k)
    if (dxs[k].defined()) grads.give(k, std::move(dxs[k]));
  if (dw_wanted) grads.give(count, dw.to(dy.dtype()));
}

}  // namespace

Var weighted_sum(const std::vector<Var>& xs, const Var& weights) {
  require(!xs.empty(), "weighted_sum: no inputs given, at least one is needed");
  for (std::size_t k = 0; k < xs.size(); ++k) require(xs[k].defined(), "weighted_sum: input ", k, " is an undefined Var");
  detail::require_defined("weighted_sum", "weights", weights);
  require(weights.shape() == Shape{xs.size()}, "weighted_sum: weights is ", weights.shape(), " for ", xs.size(), " inputs; ",
          Shape{xs.size()}, " is needed");
  std::vector<Tensor> values;
  for (const Var& x : xs) {
    require(x.shape() == xs[0].shape(), "weighted_sum: input ", values.size(), " is ", x.shape(), ", input 0 is ", xs[0].shape());
    require(x.dtype() == weights.dtype(), "weighted_sum: input ", values.size(), " is ", x.dtype(), ", weights is ",
            weights.dtype(), detail::kConvert);
    values.push_back(x.value());
  }

  Tensor y(xs[0].shape(), xs[0].dtype());
  dispatch(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::weighted_sum(pointers<T>(values).data(), weights.data<T>(), values.size(), y.elements(), y.data<T>());
  });

  std::vector<Var> inputs = xs;
  inputs.push_back(weights);
  return record("weighted_sum", inputs, std::move(y),
                [values = std::move(values), weights = weights.value()](const Tensor& dy, Grads& grads) {
                  give_gradients(dy, values, weights, grads);
                });
}

}  // namespace addnorm
