// Dynamic tanh (Zhu et al. 2025): no statistics; every element goes through tanh by itself.
#include <cmath>

#include "nn/norms/norm_kind_info.h"

namespace addnorm {

std::vector<NormKindInfo> dyt_norms() {
  return {
      {.formula = NormFormula::dyt,
       .called = "dyt",
       .symbol = "DyT",
       .names = {{"dyt", {.formula = NormFormula::dyt}, {"dynamictanh", "use_dynamic_tanh"}}},
       .gain = true,
       .bias = true,
       .numbers = 1,
       .gives = NormSize::any,
       .text = [](const NormKindOptions& o) { return gain_text(o) + "tanh(α·x)" + bias_text(o); },
       .start = [](const NormKindOptions& o, std::size_t, NormState& own) { own.alpha = Var(Tensor::full({1}, o.alpha), true); },
       .apply = [](const NormKindOptions& o, NormState& own, const Var& x,
                   const Pass&) { return dyt(x, own.alpha, own.gamma, own.beta, o.gain_is_one_plus); },
       .freeze =
           [](const NormKindOptions&, const NormState& own, const std::vector<double>& y, std::size_t, FrozenForm& form) {
             const double alpha = own.alpha.value().to(DType::f64).item();
             for (const double v : y) form.of_element.push_back(v == 0 ? alpha : std::tanh(alpha * v) / v);
           }}};
}

}  // namespace addnorm
