// The names of norms: what --norm accepts, and the formula each stands for.
#include <array>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/nn/norm_kind.h"

namespace addnorm {
namespace {

struct NamedNorm {
  const char* name;
  NormKindOptions options;
};

// Canonical names first. eps as the sources have it.
constexpr std::array kNorms{
    NamedNorm{"layernorm", {}},
    NamedNorm{"layernorm-nobias", {.bias = false}},
    NamedNorm{"layernorm-noaffine", {.gain = false, .bias = false}},
    NamedNorm{"layernorm-noeps", {.eps = 0}},
    NamedNorm{"rmsnorm", {.formula = NormFormula::rms, .bias = false}},
    NamedNorm{"rmsnorm-original",
              {.formula = NormFormula::rms, .eps = 1e-8f, .bias = false, .eps_place = EpsPlace::outside_root}},
    NamedNorm{"rmsnorm-1p", {.formula = NormFormula::rms, .eps = 1e-6f, .bias = false, .gain_is_one_plus = true}},
    NamedNorm{
        "prmsnorm",
        {.formula = NormFormula::partial_rms, .eps = 1e-8f, .bias = false, .eps_place = EpsPlace::outside_root, .part = 0.0625}},
    NamedNorm{"scalenorm", {.formula = NormFormula::scale}},
    NamedNorm{"batchnorm", {.formula = NormFormula::batch}},
    NamedNorm{"dyt", {.formula = NormFormula::dyt}},
    NamedNorm{"l2norm", {.formula = NormFormula::l2, .eps = 1e-12f}},
    NamedNorm{"none", {.formula = NormFormula::none}},
};

struct NormAlias {
  const char* alias;
  const char* name;
};
constexpr std::array kAliases{NormAlias{"ln", "layernorm"},
                              NormAlias{"layer", "layernorm"},
                              NormAlias{"LN", "layernorm"},
                              NormAlias{"rms", "rmsnorm"},
                              NormAlias{"t5norm", "rmsnorm"},
                              NormAlias{"gemma", "rmsnorm-1p"},
                              NormAlias{"scale", "scalenorm"},
                              NormAlias{"bn", "batchnorm"},
                              NormAlias{"batch", "batchnorm"},
                              NormAlias{"dynamictanh", "dyt"},
                              NormAlias{"use_dynamic_tanh", "dyt"},
                              NormAlias{"identity", "none"},
                              NormAlias{"use_rmsnorm", "rmsnorm"},
                              NormAlias{"use_scalenorm", "scalenorm"},
                              NormAlias{"l2", "l2norm"},
                              NormAlias{"non_parametric_layernorm", "layernorm-noaffine"}};

}  // namespace

std::span<const std::string> norm_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const NamedNorm& norm : kNorms) all.emplace_back(norm.name);
    return all;
  }();
  return names;
}

NormKindOptions norm_named(std::string_view name) {
  std::string wanted = folded(name);
  for (const NormAlias& alias : kAliases)
    if (folded(alias.alias) == wanted) wanted = folded(alias.name);
  for (const NamedNorm& norm : kNorms)
    if (folded(norm.name) == wanted) return norm.options;
  throw UsageError(unknown_name("norm", name, norm_names()));
}

std::string formula_of(const NormKindOptions& o) {
  const std::string gain = !o.gain ? "" : o.gain_is_one_plus ? "(1+w)⊙" : "γ⊙";
  const std::string bias = o.bias ? "+β" : "";
  switch (o.formula) {
    case NormFormula::none:
      return "x";
    case NormFormula::layer:
      return gain + (o.eps == 0 ? "(x−μ)/σ" : "(x−μ)/√(σ²+ε)") + bias;
    case NormFormula::rms:
      return gain + (o.eps_place == EpsPlace::inside_root ? "x/√(mean x²+ε)" : "x/(√(mean x²)+ε)");
    case NormFormula::partial_rms:
      return gain + (o.eps_place == EpsPlace::inside_root ? "x/√(mean x₁…ₖ²+ε)" : "x/(√(mean x₁…ₖ²)+ε)");
    case NormFormula::scale:
      return o.gain_is_one_plus ? "(1+w)·x/max(‖x‖,ε)" : "g·x/max(‖x‖,ε)";
    case NormFormula::batch:
      return gain + "(x−μ_batch)/√(σ²_batch+ε)" + bias;
    case NormFormula::dyt:
      return gain + "tanh(α·x)" + bias;
    case NormFormula::l2:
      return "x/max(‖x‖,ε)";
  }
  return "";
}

}  // namespace addnorm
