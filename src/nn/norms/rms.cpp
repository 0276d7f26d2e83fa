#include <cmath>

#include "nn/norms/norm_kind_info.h"

namespace addnorm {
namespace {

std::size_t measured_of(const NormKindOptions& o, std::size_t width) {
  return static_cast<std::size_t>(std::ceil(o.part * static_cast<double>(width)));
}

void freeze_first(std::size_t measured, const NormKindOptions& o, const std::vector<double>& y, std::size_t width,
                  FrozenForm& form) {
  freeze_rows(y, width, form, [&](const double* row) {
    double squares = 0;
    for (std::size_t i = 0; i < measured; ++i) squares += row[i] * row[i];
    return over_root(squares / static_cast<double>(measured), o);
  });
}

}  // namespace

std::vector<NormKindInfo> rms_norms() {
  return {
      {.formula = NormFormula::rms,
       .called = "rms",
       .symbol = "RMS",
       .names = {{"rmsnorm", {.formula = NormFormula::rms, .bias = false}, {"rms", "t5norm", "use_rmsnorm"}},
                 {"rmsnorm-original",
                  {.formula = NormFormula::rms, .eps = 1e-8f, .bias = false, .eps_place = EpsPlace::outside_root}},
                 {"rmsnorm-1p", {.formula = NormFormula::rms, .eps = 1e-6f, .bias = false, .gain_is_one_plus = true}, {"gemma"}}},
       .gain = true,
       .text =
           [](const NormKindOptions& o) {
             return gain_text(o) + (o.eps_place == EpsPlace::inside_root ? "x/√(mean x²+ε)" : "x/(√(mean x²)+ε)");
           },
       .apply = [](const NormKindOptions& o, NormState& own, const Var& x,
                   const Pass&) { return rms_norm(x, own.gamma, kernel_options(o)); },
       .add = [](const NormKindOptions&, const NormState& own, const Var& x, const Var& f,
                 const AddNormOptions& sum) { return add_rms_norm(x, f, own.gamma, sum); },
       .freeze = [](const NormKindOptions& o, const NormState&, const std::vector<double>& y, std::size_t width,
                    FrozenForm& form) { freeze_first(width, o, y, width, form); }},
      {.formula = NormFormula::partial_rms,
       .called = "partial_rms",
       .symbol = "pRMS",
       .names = {{"prmsnorm",
                  {.formula = NormFormula::partial_rms,
                   .eps = 1e-8f,
                   .bias = false,
                   .eps_place = EpsPlace::outside_root,
                   .part = 0.0625}}},
       .gain = true,
       .text =
           [](const NormKindOptions& o) {
             return gain_text(o) + (o.eps_place == EpsPlace::inside_root ? "x/√(mean x₁…ₖ²+ε)" : "x/(√(mean x₁…ₖ²)+ε)");
           },
       .apply = [](const NormKindOptions& o, NormState& own, const Var& x,
                   const Pass&) { return partial_rms_norm(x, own.gamma, measured_of(o, x.shape().back()), kernel_options(o)); },
       .freeze = [](const NormKindOptions& o, const NormState&, const std::vector<double>& y, std::size_t width,
                    FrozenForm& form) { freeze_first(measured_of(o, width), o, y, width, form); }}};
}

}  // namespace addnorm
