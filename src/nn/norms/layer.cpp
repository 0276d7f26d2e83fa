#include <cmath>

#include "nn/norms/norm_kind_info.h"

namespace addnorm {

std::vector<NormKindInfo> layer_norms() {
  return {
      {.formula = NormFormula::layer,
       .called = "layer",
       .symbol = "LN",
       .names = {{"layernorm", {}, {"ln", "layer", "LN"}},
                 {"layernorm-nobias", {.bias = false}},
                 {"layernorm-noaffine", {.gain = false, .bias = false}, {"non_parametric_layernorm"}},
                 {"layernorm-noeps", {.eps = 0}}},
       .gain = true,
       .bias = true,
       .text = [](const NormKindOptions& o) { return gain_text(o) + (o.eps == 0 ? "(x−μ)/σ" : "(x−μ)/√(σ²+ε)") + bias_text(o); },
       .apply = [](const NormKindOptions& o, NormState& own, const Var& x,
                   const Pass&) { return layer_norm(x, own.gamma, own.beta, kernel_options(o)); },
       .add = [](const NormKindOptions&, const NormState& own, const Var& x, const Var& f,
                 const AddNormOptions& sum) { return add_layer_norm(x, f, own.gamma, own.beta, sum); },
       .freeze =
           [](const NormKindOptions& o, const NormState&, const std::vector<double>& y, std::size_t width, FrozenForm& form) {
             form.centred = true;
             freeze_rows(y, width, form, [&](const double* row) {
               double mean = 0, squares = 0;
               for (std::size_t i = 0; i < width; ++i) mean += row[i] / static_cast<double>(width);
               for (std::size_t i = 0; i < width; ++i) squares += (row[i] - mean) * (row[i] - mean);
               return over_root(squares / static_cast<double>(width), o);
             });
           }}};
}

}  // namespace addnorm
