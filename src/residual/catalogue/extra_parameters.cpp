// The parameters that an arrangement adds, counted from its slots.
#include <algorithm>

#include "addnorm/core/error.h"
#include "addnorm/residual/explain.h"
#include "nn/norms/norm_kind_info.h"
#include "residual/catalogue/unit_groups.h"
#include "residual/class_arrangement.h"

namespace addnorm {
namespace {

using RuleKind = CoefficientRule::Kind;

/// One norm's: vectors of its width, and single numbers.
struct NormCost {
  std::size_t vectors, ones;
};
NormCost cost_of(const NormKindOptions& norm) {
  const NormKindInfo& kind = norm_kind(norm.formula);
  return {static_cast<std::size_t>(kind.has_gain(norm)) + static_cast<std::size_t>(kind.has_bias(norm)), kind.numbers};
}

void add(ExtraParameters& sum, const CoefficientRule& rule) {
  if (rule.kind == RuleKind::learned_vector) ++sum.d;
  if (rule.kind == RuleKind::learned_scalar) ++sum.ones;
}

std::string term(std::size_t count, const char* what) {
  if (count == 0) return "";
  return count == 1 ? what : concat(count, what);
}

void add_norms(ExtraParameters& sum, std::size_t count, const NormKindOptions& norm) {
  const NormCost each = cost_of(norm);
  sum.d += count * each.vectors;
  sum.ones += count * each.ones;
}

/// "2d per layer", "2d + l for layer l, L + 1 for the exit"; empty: units share nothing.
std::string shared_text(const ClassText& text, const NormKindOptions& norm) {
  ExtraParameters sum;
  add_norms(sum, text.layer_norms, norm);
  sum.ones += text.layer_numbers;
  const std::string norms = sum == ExtraParameters{} ? "" : sum.text();
  if (text.layer_mix.empty()) return norms.empty() ? "" : norms + " per layer";
  const std::string layer = concat(norms, norms.empty() ? "" : " + ", text.layer_mix, " for layer l");
  return text.exit_mix.empty() ? layer : concat(layer, ", ", text.exit_mix, " for the exit");
}

std::string shared_text(const Arrangement& row, const StackShape& shape, const NormKindOptions& norm) {
  if (!row.is_row()) return shared_text(class_text(row), norm);
  std::size_t per_layer = 0;
  const UnitSlots& slots = row.slots(shape, shape.unit(shape.layers - 1, 0));
  for (const CoefficientRule& rule : {slots.a, slots.b})
    if (rule.kind == RuleKind::learned_per_layer) ++per_layer;
  return per_layer == 0 ? "" : concat(per_layer, " per layer");
}

}  // namespace

std::string ExtraParameters::text() const {
  std::string all;
  for (const std::string& part : {term(d, "d"), term(d_ff, "f"), term(heads, "H"), ones == 0 ? "" : std::to_string(ones)})
    if (!part.empty()) all += (all.empty() ? "" : " + ") + part;
  return all.empty() ? "0" : all;
}

std::size_t ExtraParameters::count(std::size_t width, std::size_t inner_width, std::size_t head_count) const {
  return d * width + d_ff * inner_width + heads * head_count + ones;
}

ExtraParameters extra_parameters(const Arrangement& row, const StackShape& shape, const Unit& unit, const NormKindOptions& norm) {
  ExtraParameters sum;
  if (!row.is_row()) {
    add_norms(sum, class_text(row).norms, norm);
    return sum;
  }
  const UnitSlots& slots = row.slots(shape, unit);
  add_norms(sum, static_cast<std::size_t>(slots.in) + static_cast<std::size_t>(slots.out) + static_cast<std::size_t>(slots.post),
            norm);
  if (slots.mid) {
    const NormCost each = cost_of(norm);
    (unit.sub_layer == SubLayer::ffn ? sum.d_ff : sum.d) += each.vectors;
    sum.ones += each.ones;
  }
  if (slots.head_gain != HeadGain::none && unit.sub_layer != SubLayer::ffn) ++sum.heads;
  add(sum, slots.a);
  add(sum, slots.b);
  return sum;
}

std::string extra_parameters_text(const Arrangement& row, const StackShape& shape, const NormKindOptions& norm) {
  std::vector<std::pair<std::string, ExtraParameters>> lines;
  bool same = true;
  for (const UnitGroup& group : unit_groups(row, shape)) {
    lines.emplace_back(group.label, extra_parameters(row, shape, group.units.front(), norm));
    same = same && lines.back().second == lines.front().second;
  }
  std::string all;
  if (same) all = lines.front().second.text();
  if (!same)
    for (const auto& [where, count] : lines) all += concat(all.empty() ? "" : ", ", where, " ", count.text());
  const std::string shared = shared_text(row, shape, norm);
  return shared.empty() ? all : concat(all, ", and ", shared);
}

}  // namespace addnorm
