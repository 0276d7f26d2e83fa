// From a row, or a class of the catalogue, to its diagram.
#include "addnorm/core/error.h"
#include "addnorm/residual/explain.h"
#include "residual/catalogue/unit_groups.h"
#include "residual/class_arrangement.h"
#include "residual/explain/drawer.h"

namespace addnorm {
namespace {

using Kind = DiagramStep::Kind;
using Steps = Drawer::Steps;

constexpr const char* kEachLayer = "each of L layers";

void append(Steps& steps, const Steps& more) { steps.insert(steps.end(), more.begin(), more.end()); }

/// As it stands before what it multiplies: "α·", "/√l".
std::string before(const std::string& factor) { return factor.starts_with("1/") ? factor.substr(1) : factor + "·"; }

}  // namespace

Drawer::Drawer(const StackShape& shape, const NormKindOptions& norm) : shape_(shape), norm_(symbol_of(norm)) {}

Steps Drawer::norm(bool there, const std::string& index) const {
  if (!there || norm_.empty()) return {};
  return {{.kind = Kind::norm, .text = norm_ + index}};
}

Steps Drawer::named_norm(bool there, const char* what) const {
  if (!there || norm_.empty()) return {};
  return {{.kind = Kind::norm, .text = concat(what, " ", norm_)}};
}

Steps Drawer::branch(const Unit& unit) const { return {{.kind = Kind::branch, .text = sub_layer_text(unit.sub_layer, shape_)}}; }

Steps Drawer::sum(std::vector<Steps> ways) { return {{.kind = Kind::sum, .text = "+", .ways = std::move(ways)}}; }

Steps Drawer::joined(Steps steps, const Steps& more) {
  append(steps, more);
  return steps;
}

Steps Drawer::unit(const UnitSlots& slots, const Unit& at) const {
  const bool through_norm = slots.skip != Skip::stream;  // the norm stands on the line itself
  Steps all = norm(slots.in && through_norm);
  Steps way = norm(slots.in && !through_norm);
  if (slots.in && !slots.in_scale.is_one())
    way.push_back({.kind = Kind::factor, .text = before(text_of(slots.in_scale, shape_))});
  append(way, inside(slots, at));
  append(way, norm(slots.out));
  append(way, factor(slots.b));
  append(all, slots.skip == Skip::none ? way : sum({factor(slots.a), way}));
  append(all, norm(slots.post));
  return all;
}

Steps Drawer::inside(const UnitSlots& slots, const Unit& at) const {
  const bool opened = (slots.mid && !norm_.empty()) || slots.head_gain != HeadGain::none;
  if (!opened) return branch(at);
  const bool ffn = at.sub_layer == SubLayer::ffn;
  Steps way = {{.kind = Kind::branch, .text = ffn ? "feed-forward: φ(W₁·)" : sub_layer_text(at.sub_layer, shape_) + ": heads"}};
  if (!ffn && slots.head_gain == HeadGain::before_out) way.push_back({.kind = Kind::factor, .text = "h⊙"});
  append(way, norm(slots.mid));
  way.push_back({.kind = Kind::branch, .text = ffn ? "feed-forward: W₂" : sub_layer_text(at.sub_layer, shape_) + ": Wₒ"});
  if (!ffn && slots.head_gain == HeadGain::after_out) way.push_back({.kind = Kind::factor, .text = "h⊙"});
  return way;
}

Steps Drawer::factor(const CoefficientRule& rule) const {
  if (rule.is_one()) return {};
  const std::string text = *rule.symbol ? rule.symbol : text_of(rule.start, shape_);
  const bool vector = rule.kind == CoefficientRule::Kind::learned_vector;
  return {{.kind = Kind::factor, .text = vector ? text + "⊙" : before(text)}};
}

std::vector<Unit> Drawer::units() const {
  std::vector<Unit> units;
  for (std::size_t i = 0; i < shape_.sub_layers.size(); ++i) units.push_back(shape_.unit(0, i));
  return units;
}

Diagram Drawer::each_layer(Steps steps) { return {.name = "", .layers = {{kEachLayer, std::move(steps)}}}; }

Diagram Drawer::each_unit(const std::function<Steps(const Unit&)>& unit) const {
  Steps steps;
  for (const Unit& one : units()) append(steps, unit(one));
  return each_layer(std::move(steps));
}

Diagram Drawer::each_unit(const UnitSlots& slots) const {
  return each_unit([&](const Unit& at) { return unit(slots, at); });
}

Diagram diagram_of(const Arrangement& row, const StackShape& shape, const NormKindOptions& norm) {
  const Drawer draw(shape, norm);
  Diagram all;
  if (row.is_row()) {
    for (const LayerRange& range : layer_ranges(row, shape)) {
      Steps steps;
      for (std::size_t i = 0; i < shape.sub_layers.size(); ++i) {
        const Unit unit = shape.unit(range.first, i);
        append(steps, draw.unit(row.slots(shape, unit), unit));
      }
      all.layers.push_back({range.label.empty() ? kEachLayer : range.label, steps});
    }
  } else {
    all = class_of(row).draw(draw, row.choices);
  }
  all.name = row.name;
  Steps entry = draw.named_norm(row.entry, "entry");
  all.entry.insert(all.entry.begin(), entry.begin(), entry.end());
  const bool own_end = !all.exit.empty();
  if (!own_end) append(all.exit, draw.named_norm(row.exit, "final"));
  return all;
}

}  // namespace addnorm
