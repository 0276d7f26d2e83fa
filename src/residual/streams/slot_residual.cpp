#include "residual/streams/slot_residual.h"

#include "residual/catalogue/row_check.h"
#include "residual/streams/slot_stream.h"

namespace addnorm {
namespace {

using RuleKind = CoefficientRule::Kind;

bool wants(const Arrangement& row, const StackShape& shape, CoefficientRule UnitSlots::*coefficient, RuleKind kind) {
  for (std::size_t i = 0; i < shape.units(); ++i)
    if ((row.slots(shape, shape.unit(i)).*coefficient).kind == kind) return true;
  return false;
}

/// Where the coefficient that a layer's units share starts: as the first of them that has it says.
double start_of_layer(const Arrangement& row, const StackShape& shape, CoefficientRule UnitSlots::*coefficient,
                      std::size_t layer) {
  for (std::size_t i = 0; i < shape.sub_layers.size(); ++i) {
    const Unit unit = shape.unit(layer, i);
    const CoefficientRule& rule = row.slots(shape, unit).*coefficient;
    if (rule.kind == RuleKind::learned_per_layer) return value_of(rule.start, shape, unit);
  }
  return 1;
}

}  // namespace

SlotResidual::SlotResidual(const Arrangement& row, const StackShape& shape, const ResidualOptions& options)
    : Residual(row, shape, options) {
  const auto problem = problem_of(row);
  require(!problem, "arrangement '", row.name, "': ", problem ? problem->field : "", " ", problem ? problem->text : "");
  for (std::size_t i = 0; i < shape.units(); ++i) {
    const Unit unit = shape.unit(i);
    const UnitSlots& slots = row.slots(shape, unit);
    units_.push_back({.row = slots,
                      .in = norm_if(slots.in),
                      .out = norm_if(slots.out),
                      .post = norm_if(slots.post),
                      .a = start_of(slots.a, unit),
                      .b = start_of(slots.b, unit),
                      .in_scale = value_of(slots.in_scale, shape, unit),
                      .fixed_a = value_of(slots.a.start, shape, unit),
                      .fixed_b = value_of(slots.b.start, shape, unit)});
  }
  const auto per_layer = [&](CoefficientRule UnitSlots::*coefficient, std::vector<Var>& of_layers) {
    if (!wants(row, shape, coefficient, RuleKind::learned_per_layer)) return;
    for (std::size_t layer = 0; layer < shape.layers; ++layer)
      of_layers.emplace_back(Tensor::full({1}, start_of_layer(row, shape, coefficient, layer)), true);
  };
  per_layer(&UnitSlots::a, layer_a_);
  per_layer(&UnitSlots::b, layer_b_);
  entry_ = norm_if(row.entry);
  exit_ = norm_if(row.exit);
}

/// A learned coefficient of this unit alone; undefined for one that is fixed or shared by its layer.
Var SlotResidual::start_of(const CoefficientRule& rule, const Unit& unit) const {
  const double start = value_of(rule.start, shape(), unit);
  if (rule.kind == RuleKind::learned_scalar) return Var(Tensor::full({1}, start), true);
  if (rule.kind == RuleKind::learned_vector) return Var(Tensor::full({shape().width}, start), true);
  return Var();
}

Factor SlotResidual::a(const Unit& unit) const {
  const Slots& of = slots(unit);
  if (of.row.a.kind == RuleKind::fixed) return {.constant = of.fixed_a};
  return {.learned = of.row.a.kind == RuleKind::learned_per_layer ? layer_a_[unit.layer] : of.a};
}
Factor SlotResidual::b(const Unit& unit) const {
  const Slots& of = slots(unit);
  if (of.row.b.kind == RuleKind::fixed) return {.constant = of.fixed_b};
  return {.learned = of.row.b.kind == RuleKind::learned_per_layer ? layer_b_[unit.layer] : of.b};
}

BranchOptions SlotResidual::branch(const Unit& unit) const {
  const UnitSlots& slots = this->slots(unit).row;
  BranchOptions wanted;
  if (slots.mid) wanted.inner_norm = options().norm;
  wanted.head_gain = slots.head_gain;
  return wanted;
}

void SlotResidual::visit(Visitor& visitor) {
  visitor.child("entry", entry_);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit unit = shape().unit(i);
    struct One : Module {
      Slots& slots;
      explicit One(Slots& s) : slots(s) {}
      void visit(Visitor& v) override {
        v.child("in", slots.in);
        v.child("out", slots.out);
        v.child("post", slots.post);
        v.parameter("a", slots.a, Role::coefficient);
        v.parameter("b", slots.b, Role::coefficient);
      }
    } one(units_[i]);
    visitor.child(path_of(shape(), unit), one, {.layer = unit.layer, .sub_layer = unit.sub_layer});
  }
  for (std::size_t layer = 0; layer < layer_a_.size(); ++layer)
    visitor.parameter(concat("layers.", layer, ".a"), layer_a_[layer], Role::coefficient);
  for (std::size_t layer = 0; layer < layer_b_.size(); ++layer)
    visitor.parameter(concat("layers.", layer, ".b"), layer_b_[layer], Role::coefficient);
  visitor.child("exit", exit_);
}

std::unique_ptr<Stream> SlotResidual::do_open(const Pass& pass, StreamObserver* observer) const {
  return std::make_unique<SlotStream>(*this, pass, observer);
}

}  // namespace addnorm
