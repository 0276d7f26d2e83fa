// What diagrams are drawn with: the steps of a row's unit, and those of classes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "addnorm/residual/diagram.h"

namespace addnorm {

/// Draws with the norm and the sub-layers of one stack. Where the norm is `none`, none is drawn.
class Drawer {
 public:
  using Steps = std::vector<DiagramStep>;

  Drawer(const StackShape& shape, const NormKindOptions& norm);

  Steps norm(bool there = true, const std::string& index = "") const;
  Steps named_norm(bool there, const char* what) const;
  Steps branch(const Unit& unit) const;
  Steps unit(const UnitSlots& slots, const Unit& at) const;
  static Steps sum(std::vector<Steps> ways);
  static Steps joined(Steps steps, const Steps& more);
  static DiagramStep keep() { return {.kind = DiagramStep::Kind::keep}; }
  static DiagramStep mix(const char* text = "Σ w·y") { return {.kind = DiagramStep::Kind::mix, .text = text}; }

  /// Of one layer.
  std::vector<Unit> units() const;
  static Diagram each_layer(Steps steps);
  Diagram each_unit(const std::function<Steps(const Unit&)>& unit) const;
  Diagram each_unit(const UnitSlots& slots) const;

 private:
  Steps inside(const UnitSlots& slots, const Unit& at) const;
  Steps factor(const CoefficientRule& rule) const;

  const StackShape& shape_;
  std::string norm_;
};

}  // namespace addnorm
