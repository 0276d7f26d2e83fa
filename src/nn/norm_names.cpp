// The names of norms: what --norm accepts, and the formula each stands for.
#include <array>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/nn/norm_kind.h"

namespace addnorm {
namespace {

struct Named {
  const char* name;
  NormKindOptions options;
};

// Canonical names first. eps as the sources have it.
constexpr std::array kNorms{
    Named{"layernorm", {}},
    Named{"layernorm-nobias", {.bias = false}},
    Named{"layernorm-noaffine", {.gain = false, .bias = false}},
    Named{"layernorm-noeps", {.eps = 0}},
    Named{"rmsnorm", {.formula = NormFormula::rms, .bias = false}},
    Named{"rmsnorm-original", {.formula = NormFormula::rms, .eps = 1e-8f, .bias = false, .eps_place = EpsPlace::outside_root}},
    Named{"rmsnorm-1p", {.formula = NormFormula::rms, .eps = 1e-6f, .bias = false, .gain_is_one_plus = true}},
    Named{
        "prmsnorm",
        {.formula = NormFormula::partial_rms, .eps = 1e-8f, .bias = false, .eps_place = EpsPlace::outside_root, .part = 0.0625}},
    Named{"scalenorm", {.formula = NormFormula::scale}},
    Named{"batchnorm", {.formula = NormFormula::batch}},
    Named{"dyt", {.formula = NormFormula::dyt}},
    Named{"l2norm", {.formula = NormFormula::l2, .eps = 1e-12f}},
    Named{"none", {.formula = NormFormula::none}},
};

struct Alias {
  const char* alias;
  const char* name;
};
constexpr std::array kAliases{Alias{"ln", "layernorm"},
                              Alias{"layer", "layernorm"},
                              Alias{"LN", "layernorm"},
                              Alias{"rms", "rmsnorm"},
                              Alias{"t5norm", "rmsnorm"},
                              Alias{"gemma", "rmsnorm-1p"},
                              Alias{"scale", "scalenorm"},
                              Alias{"bn", "batchnorm"},
                              Alias{"batch", "batchnorm"},
                              Alias{"dynamictanh", "dyt"},
                              Alias{"use_dynamic_tanh", "dyt"},
                              Alias{"identity", "none"},
                              Alias{"use_rmsnorm", "rmsnorm"},
                              Alias{"use_scalenorm", "scalenorm"},
                              Alias{"l2", "l2norm"},
                              Alias{"non_parametric_layernorm", "layernorm-noaffine"}};

}  // namespace

std::span<const std::string> norm_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Named& norm : kNorms) all.emplace_back(norm.name);
    return all;
  }();
  return names;
}

NormKindOptions norm_named(std::string_view name) {
  std::string wanted = folded(name);
  for (const Alias& alias : kAliases)
    if (folded(alias.alias) == wanted) wanted = folded(alias.name);
  for (const Named& norm : kNorms)
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
