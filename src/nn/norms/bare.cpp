// Norms without parameters: the L2 norm, and no norm at all.
#include "nn/norms/norm_kind_info.h"

namespace addnorm {

std::vector<NormKindInfo> bare_norms() {
  return {{.formula = NormFormula::l2,
           .called = "l2",
           .symbol = "L2",
           .names = {{"l2norm", {.formula = NormFormula::l2, .eps = 1e-12f}, {"l2"}}},
           .gives = NormSize::fixed,
           .text = [](const NormKindOptions&) -> std::string { return "x/max(‖x‖,ε)"; },
           .apply = [](const NormKindOptions& o, NormState&, const Var& x, const Pass&) { return l2_norm(x, o.eps); },
           .freeze = freeze_by_length},
          {.formula = NormFormula::none,
           .called = "none",
           .symbol = "",
           .names = {{"none", {.formula = NormFormula::none}, {"identity"}}},
           .gives = NormSize::any,
           .text = [](const NormKindOptions&) -> std::string { return "x"; },
           .apply = [](const NormKindOptions&, NormState&, const Var& x, const Pass&) { return x; }}};
}

}  // namespace addnorm
