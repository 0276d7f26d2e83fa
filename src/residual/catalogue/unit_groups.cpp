#include "residual/catalogue/unit_groups.h"

#include <algorithm>
#include <tuple>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

bool same(const DepthRule& a, const DepthRule& b) {
  return std::string_view(a.name ? a.name : "") == (b.name ? b.name : "") && a.constant == b.constant;
}
bool same(const CoefficientRule& a, const CoefficientRule& b) {
  return a.kind == b.kind && same(a.start, b.start) && std::string_view(a.symbol) == b.symbol && a.profiled == b.profiled;
}
bool same(const UnitSlots& a, const UnitSlots& b) {
  return std::tuple(a.in, a.mid, a.head_gain, a.out, a.skip, a.post) ==
             std::tuple(b.in, b.mid, b.head_gain, b.out, b.skip, b.post) &&
         same(a.in_scale, b.in_scale) && same(a.a, b.a) && same(a.b, b.b);
}

bool opened(const UnitSlots& slots) { return slots.mid || slots.head_gain != HeadGain::none; }

std::string share_text(double share) {
  if (share == 0.25) return "¼";
  if (share == 0.5) return "½";
  if (share == 0.75) return "¾";
  return concat(short_number(share * 100), " %");
}

std::string names_of(const std::vector<Unit>& units, const StackShape& shape) {
  const auto attention = std::ranges::count_if(units, [](const Unit& unit) { return unit.sub_layer != SubLayer::ffn; });
  std::string all = attention > 1 ? "attention" : "";
  for (const Unit& unit : units)
    if (attention <= 1 || unit.sub_layer == SubLayer::ffn)
      all += (all.empty() ? "" : ", ") + sub_layer_text(unit.sub_layer, shape);
  return all;
}

}  // namespace

std::string sub_layer_text(SubLayer sub_layer, const StackShape& shape) {
  if (sub_layer == SubLayer::ffn) return "feed-forward";
  const auto has = [&](SubLayer one) { return std::ranges::find(shape.sub_layers, one) != shape.sub_layers.end(); };
  if (!has(SubLayer::self) || !has(SubLayer::cross)) return "attention";
  return sub_layer == SubLayer::self ? "self-attention" : "cross-attention";
}

std::vector<LayerRange> layer_ranges(const Arrangement& row, const StackShape& shape) {
  std::vector<Override> parts;
  for (const Override& other : row.overrides)
    if (other.first_share) parts.push_back(other);
  std::ranges::sort(parts, {}, [](const Override& other) { return *other.first_share; });
  std::vector<LayerRange> ranges;
  std::size_t first = 0;
  for (const Override& part : parts) {
    const std::size_t end = part.layers_of(shape);
    if (end <= first) continue;  // of so few layers none
    ranges.push_back({concat(first == 0 ? "first " : "up to ", share_text(*part.first_share), " of the layers"), first});
    first = end;
  }
  if (first < shape.layers) ranges.push_back({ranges.empty() ? "" : "other layers", first});
  return ranges;
}

std::vector<UnitGroup> unit_groups(const Arrangement& row, const StackShape& shape) {
  std::vector<UnitGroup> groups;
  for (const LayerRange& range : layer_ranges(row, shape)) {
    std::vector<UnitGroup> here;
    for (std::size_t i = 0; i < shape.sub_layers.size(); ++i) {
      const Unit unit = shape.unit(range.first, i);
      const UnitSlots& slots = row.slots(shape, unit);
      const auto alike = [&](const UnitGroup& group) {
        const Unit& first = group.units.front();
        const bool kinds = (first.sub_layer == SubLayer::ffn) == (unit.sub_layer == SubLayer::ffn);
        return same(row.slots(shape, first), slots) && (kinds || !opened(slots));
      };
      const auto found = std::find_if(here.begin(), here.end(), alike);
      if (found == here.end())
        here.push_back({.label = "", .units = {unit}});
      else
        found->units.push_back(unit);
    }
    for (UnitGroup& group : here) {
      group.label = range.label;
      if (here.size() > 1) group.label += (range.label.empty() ? "" : ", ") + names_of(group.units, shape);
    }
    groups.insert(groups.end(), here.begin(), here.end());
  }
  return groups;
}

}  // namespace addnorm
