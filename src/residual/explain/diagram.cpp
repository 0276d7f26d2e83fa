// From a row, or a class of the catalogue, to its diagram.
#include "addnorm/residual/diagram.h"

#include <array>
#include <functional>

#include "addnorm/core/error.h"
#include "addnorm/residual/explain.h"
#include "residual/catalogue/unit_groups.h"
#include "residual/explain/class_texts.h"

namespace addnorm {
namespace {

using Kind = DiagramStep::Kind;
using Steps = std::vector<DiagramStep>;

void append(Steps& steps, Steps more) { steps.insert(steps.end(), more.begin(), more.end()); }

class Drawer {
 public:
  Drawer(const StackShape& shape, const NormKindOptions& norm) : shape_(shape), norm_(symbol_of(norm)) {}

  Steps norm(bool there = true, const std::string& index = "") const {
    if (!there || norm_.empty()) return {};
    return {{.kind = Kind::norm, .text = norm_ + index}};
  }
  Steps named_norm(bool there, const char* what) const {
    if (!there || norm_.empty()) return {};
    return {{.kind = Kind::norm, .text = concat(what, " ", norm_)}};
  }
  Steps branch(const Unit& unit) const { return {{.kind = Kind::branch, .text = sub_layer_text(unit.sub_layer, shape_)}}; }
  static Steps sum(std::vector<Steps> ways) { return {{.kind = Kind::sum, .text = "+", .ways = std::move(ways)}}; }

  Steps unit(const UnitSlots& slots, const Unit& at) const {
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
  const StackShape& shape() const { return shape_; }

 private:
  Steps inside(const UnitSlots& slots, const Unit& at) const {
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
  static std::string before(const std::string& factor) { return factor.starts_with("1/") ? factor.substr(1) : factor + "·"; }
  Steps factor(const CoefficientRule& rule) const {
    if (rule.is_one()) return {};
    const std::string text = *rule.symbol ? rule.symbol : text_of(rule.start, shape_);
    const bool vector = rule.kind == CoefficientRule::Kind::learned_vector;
    return {{.kind = Kind::factor, .text = vector ? text + "⊙" : before(text)}};
  }

  const StackShape& shape_;
  std::string norm_;
};

std::vector<Unit> units_of_layer(const StackShape& shape) {
  std::vector<Unit> units;
  for (std::size_t i = 0; i < shape.sub_layers.size(); ++i) units.push_back(shape.unit(0, i));
  return units;
}

constexpr const char* kEachLayer = "each of L layers";

Diagram of_units(const Drawer& draw, const std::function<Steps(const Drawer&, const Unit&)>& unit) {
  Steps steps;
  for (const Unit& one : units_of_layer(draw.shape())) append(steps, unit(draw, one));
  return {.name = "", .layers = {{kEachLayer, steps}}};
}

Steps pre_unit(const Drawer& draw, const Unit& unit) { return draw.unit({.in = true}, unit); }
Steps post_unit(const Drawer& draw, const Unit& unit) { return draw.unit({.post = true}, unit); }

// Functions: a program's own globals may draw before this file's would be there.
DiagramStep keep() { return {.kind = Kind::keep}; }
DiagramStep mix() { return {.kind = Kind::mix, .text = "Σ w·y"}; }

std::string subscript(std::size_t number) {
  constexpr std::array kDigits{"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string all;
  for (const char digit : std::to_string(number)) all += kDigits.at(static_cast<std::size_t>(digit - '0'));
  return all;
}

Diagram rskip(const Drawer& draw, const ArrangementChoices& choices) {
  const std::size_t recursions = choices.recursions.value_or(kPublishedRecursions);
  const bool one_norm = choices.shared_norms.value_or(false) || recursions == 1;
  return of_units(draw, [&](const Drawer& d, const Unit& unit) {
    Steps y = d.branch(unit);
    for (std::size_t k = 1; k <= recursions; ++k) {
      y = Drawer::sum({{}, y});
      append(y, d.norm(true, one_norm ? "" : subscript(k)));
    }
    return y;
  });
}

Diagram b2t(const Drawer& draw, const ArrangementChoices&) {
  Steps inner;
  for (const Unit& unit : units_of_layer(draw.shape())) {
    append(inner, Drawer::sum({{}, draw.branch(unit)}));
    if (!unit.last_in_layer) append(inner, draw.norm());
  }
  Steps all = Drawer::sum({{}, inner});
  append(all, draw.norm());
  return {.name = "", .layers = {{kEachLayer, all}}};
}

Diagram resi_dual(const Drawer& draw, const ArrangementChoices& choices) {
  Diagram all = of_units(draw, [](const Drawer& d, const Unit& unit) {
    Steps steps = Drawer::sum({{}, d.branch(unit)});
    steps.back().to_side = true;
    append(steps, d.norm());
    return steps;
  });
  all.entry = {keep()};
  all.side = "r";
  const double scale = choices.second_stream_scale.value_or(1), share = choices.stream_share.value_or(1);
  // Of all that was collected at once: the same as of each.
  if (scale != 1) all.exit.push_back({.kind = Kind::side_factor, .text = short_number(scale) + "·"});
  for (DiagramStep step : draw.named_norm(true, "final")) {
    step.kind = Kind::side_norm;
    all.exit.push_back(step);
  }
  if (share != 1) all.exit.push_back({.kind = Kind::factor, .text = short_number(share) + "·"});
  all.exit.push_back({.kind = Kind::side_sum, .text = "+"});
  return all;
}

Diagram parallel(const Drawer& draw, const ArrangementChoices&) {
  std::vector<Steps> ways;
  for (const Unit& unit : units_of_layer(draw.shape())) ways.push_back(draw.branch(unit));
  Steps inner = draw.norm();
  append(inner, Drawer::sum(ways));
  return {.name = "", .layers = {{kEachLayer, Drawer::sum({{}, inner})}}};
}

Diagram parallel_2ln(const Drawer& draw, const ArrangementChoices&) {
  constexpr std::array kIndex{"₁", "₂", "₃"};
  std::vector<Steps> ways{{}};
  for (const Unit& unit : units_of_layer(draw.shape())) {
    Steps way = draw.norm(true, kIndex.at(unit.index % kIndex.size()));
    append(way, draw.branch(unit));
    ways.push_back(way);
  }
  return {.name = "", .layers = {{kEachLayer, Drawer::sum(ways)}}};
}

Diagram denseformer(const Drawer& draw, const ArrangementChoices&) {
  Diagram all = of_units(draw, pre_unit);
  all.entry = {keep()};
  all.layers[0].steps.push_back(keep());
  all.layers[0].steps.push_back(mix());
  all.side = "y";
  return all;
}

Diagram dlcl(const Drawer& draw, bool pre) {
  Diagram all = of_units(draw, pre ? pre_unit : post_unit);
  Steps& steps = all.layers[0].steps;
  Steps head{mix()};
  if (!pre) append(head, draw.norm());
  if (pre) append(steps, draw.norm());
  steps.insert(steps.begin(), head.begin(), head.end());
  steps.push_back(keep());
  all.entry = {keep()};
  all.exit = {mix()};
  if (!pre) append(all.exit, draw.named_norm(true, "last"));
  all.side = "y";
  return all;
}
Diagram dlcl_pre(const Drawer& draw, const ArrangementChoices&) { return dlcl(draw, true); }
Diagram dlcl_post(const Drawer& draw, const ArrangementChoices&) { return dlcl(draw, false); }

struct NamedDiagram {
  const char* name;
  Diagram (*draw)(const Drawer&, const ArrangementChoices&);
};
constexpr std::array kClasses{NamedDiagram{"b2t", b2t},
                              NamedDiagram{"denseformer", denseformer},
                              NamedDiagram{"dlcl-post", dlcl_post},
                              NamedDiagram{"dlcl-pre", dlcl_pre},
                              NamedDiagram{"parallel", parallel},
                              NamedDiagram{"parallel-2ln", parallel_2ln},
                              NamedDiagram{"resi-dual", resi_dual},
                              NamedDiagram{"rskip", rskip}};

Diagram of_class(const Arrangement& row, const Drawer& draw) {
  for (const NamedDiagram& one : kClasses)
    if (row.name == one.name) return one.draw(draw, row.choices);
  class_text(row.name);  // says that there is no such class
  return {};
}

}  // namespace

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
    all = of_class(row, draw);
  }
  all.name = row.name;
  Steps entry = draw.named_norm(row.entry, "entry");
  all.entry.insert(all.entry.begin(), entry.begin(), entry.end());
  const bool own_end = !all.exit.empty();
  if (!own_end) append(all.exit, draw.named_norm(row.exit, "final"));
  return all;
}

}  // namespace addnorm
