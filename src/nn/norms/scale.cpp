#include <algorithm>
#include <cmath>

#include "nn/norms/norm_kind_info.h"

namespace addnorm {

std::vector<NormKindInfo> scale_norms() {
  return {{.formula = NormFormula::scale,
           .called = "scale",
           .symbol = "SN",
           .names = {{"scalenorm", {.formula = NormFormula::scale}, {"scale", "use_scalenorm"}}},
           .numbers = 1,
           .text = [](const NormKindOptions& o) -> std::string {
             return o.gain_is_one_plus ? "(1+w)·x/max(‖x‖,ε)" : "g·x/max(‖x‖,ε)";
           },
           .start =
               [](const NormKindOptions& o, std::size_t width, NormState& own) {
                 const double g = std::sqrt(static_cast<double>(width)) - (o.gain_is_one_plus ? 1 : 0);
                 own.gamma = Var(Tensor::full({1}, g), true);
               },
           .apply = [](const NormKindOptions& o, NormState& own, const Var& x,
                       const Pass&) { return scale_norm(x, own.gamma, o.eps, o.gain_is_one_plus); },
           .freeze = freeze_by_length}};
}

}  // namespace addnorm
