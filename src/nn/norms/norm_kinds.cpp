// Kinds of norms by name and by number, and what the files of nn/norms/ share.
#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "nn/norms/norm_kind_info.h"

namespace addnorm {

const NormKindInfo& norm_kind(NormFormula formula) {
  for (const NormKindInfo& kind : norm_kinds())
    if (kind.formula == formula) return kind;
  std::vector<NormKindInfo> known = norm_kinds();
  std::ranges::sort(known, {}, &NormKindInfo::formula);
  std::string allowed;
  for (const NormKindInfo& kind : known) {
    const char* between = &kind == &known.front() ? "NormFormula::" : &kind == &known.back() ? " and " : ", ";
    allowed += concat(between, kind.called, " (", static_cast<int>(kind.formula), ")");
  }
  refuse("Norm: formula is ", static_cast<int>(formula), "; allowed are ", allowed);
}

std::span<const std::string> norm_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const NormKindInfo& kind : norm_kinds())
      for (const NamedNorm& norm : kind.names) all.emplace_back(norm.name);
    return all;
  }();
  return names;
}

NormKindOptions norm_named(std::string_view name) {
  const std::string wanted = folded(name);
  const auto is_wanted = [&](const char* known) { return folded(known) == wanted; };
  for (const NormKindInfo& kind : norm_kinds())
    for (const NamedNorm& norm : kind.names)
      if (is_wanted(norm.name) || std::ranges::any_of(norm.aliases, is_wanted)) return norm.options;
  throw UsageError(unknown_name("norm", name, norm_names()));
}

std::string formula_of(const NormKindOptions& options) { return norm_kind(options.formula).text(options); }

std::string gain_text(const NormKindOptions& o) { return !o.gain ? "" : o.gain_is_one_plus ? "(1+w)⊙" : "γ⊙"; }
std::string bias_text(const NormKindOptions& o) { return o.bias ? "+β" : ""; }

NormOptions kernel_options(const NormKindOptions& o) {
  return {.eps = o.eps, .gain_is_one_plus_gamma = o.gain_is_one_plus, .eps_place = o.eps_place};
}

double over_root(double mean_square, const NormKindOptions& o) {
  const auto eps = static_cast<double>(o.eps);
  return o.eps_place == EpsPlace::inside_root ? 1 / std::sqrt(mean_square + eps) : 1 / (std::sqrt(mean_square) + eps);
}

void freeze_rows(const std::vector<double>& y, std::size_t width, FrozenForm& form,
                 const std::function<double(const double* row)>& factor) {
  for (std::size_t r = 0; r < y.size() / width; ++r) form.of_row.push_back(factor(y.data() + r * width));
}

void freeze_by_length(const NormKindOptions& o, const NormState&, const std::vector<double>& y, std::size_t width,
                      FrozenForm& form) {
  freeze_rows(y, width, form, [&](const double* row) {
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += row[i] * row[i];
    return 1 / std::max(std::sqrt(squares), static_cast<double>(o.eps));
  });
}

}  // namespace addnorm
