#include <cmath>

#include "nn/norms/norm_kind_info.h"

namespace addnorm {

std::vector<NormKindInfo> batch_norms() {
  return {
      {.formula = NormFormula::batch,
       .called = "batch",
       .symbol = "BN",
       .names = {{"batchnorm", {.formula = NormFormula::batch}, {"bn", "batch"}}},
       .gain = true,
       .bias = true,
       .text = [](const NormKindOptions& o) { return gain_text(o) + "(x−μ_batch)/√(σ²_batch+ε)" + bias_text(o); },
       .start =
           [](const NormKindOptions&, std::size_t width, NormState& own) {
             own.running_mean = Tensor::zeros({width});
             own.running_var = Tensor::full({width}, 1);
           },
       .apply =
           [](const NormKindOptions& o, NormState& own, const Var& x, const Pass& pass) {
             return batch_norm(x, own.gamma, own.beta, own.running_mean, own.running_var,
                               {.eps = o.eps, .train = pass.train, .gain_is_one_plus_gamma = o.gain_is_one_plus}, pass.padding);
           },
       .freeze =
           [](const NormKindOptions& o, const NormState& own, const std::vector<double>&, std::size_t width, FrozenForm& form) {
             const Tensor mean = own.running_mean.to(DType::f64), var = own.running_var.to(DType::f64);
             for (std::size_t i = 0; i < width; ++i) {
               form.gain[i] /= std::sqrt(var.data<double>()[i] + static_cast<double>(o.eps));
               form.bias[i] -= form.gain[i] * mean.data<double>()[i];
             }
           }}};
}

}  // namespace addnorm
