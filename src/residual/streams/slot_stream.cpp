#include "residual/streams/slot_stream.h"

#include "residual/catalogue/row_check.h"

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

SlotStream::SlotStream(const SlotResidual& residual, const Pass& pass, StreamObserver* observer)
    : Stream(observer), residual_(residual), pass_(pass) {}

void SlotStream::do_begin(const Var& x0) {
  x_ = residual_.entry()(x0, pass_);
  announce_stream(nullptr, x_);
}

Var SlotStream::do_read(const Unit& unit) {
  const SlotResidual::Slots& slots = residual_.slots(unit);
  const Var u = slots.row.in ? read_normed(unit, slots) : read_stream(unit, slots);
  return !slots.row.in || slots.in_scale == 1 ? u : scale(u, slots.in_scale);
}

Var SlotStream::read_stream(const Unit& unit, const SlotResidual::Slots& slots) {
  const Var x = settled();
  if (slots.row.skip == Skip::none) return x;
  const Parted part = parted(unit, x);
  x_ = part.skip;
  return part.branch;
}

/// N_in(x). Skip and branch part before it, or, where the skip is N_in(x), after it.
Var SlotStream::read_normed(const Unit& unit, const SlotResidual::Slots& slots) {
  if (slots.row.skip == Skip::normed) {
    const Parted part = parted(unit, settled(slots.in));
    normed_ = part.skip;
    return part.branch;
  }
  if (!watched()) return settled(slots.in);
  settle_for(slots.in);
  return slots.in(read_stream(unit, slots), pass_);
}

void SlotStream::do_write(const Unit& unit, const Var& f) {
  const SlotResidual::Slots& slots = residual_.slots(unit);
  const Var g = slots.out(f, pass_);
  const Var skip = slots.row.skip == Skip::normed ? normed_ : x_;
  require(skip.defined(), "Stream::write: unit ", unit.index, " of stack '", residual_.shape().name,
          "' has not been read, and its skip is the N_in(x) that read computes; call read(unit) before write(unit, F)");
  normed_ = Var();
  if (slots.row.skip == Skip::none) {
    const Var branch = added(unit, g);
    announce_branch(unit, branch);
    x_ = slots.post(branch, pass_);
    announce_stream(&unit, x_);
    return;
  }
  if (watched()) announce_branch(unit, added(unit, g));
  if (slots.post.is_identity()) {
    x_ = skip;
    branch_ = g;
    pending_ = unit;
    return;
  }
  x_ = slots.post.add(skip, g, residual_.a(unit), residual_.b(unit), residual_.dropout(unit, pass_), pass_).y;
  announce_stream(&unit, x_);
}

Var SlotStream::do_close() { return residual_.exit().is_identity() ? settled() : settled(residual_.exit()); }

Var SlotStream::settled() {
  if (!pending_) return x_;
  const Unit unit = *pending_;
  x_ = residual_sum(x_, branch_, residual_.a(unit), residual_.b(unit), residual_.dropout(unit, pass_));
  branch_ = Var();
  pending_.reset();
  announce_stream(&unit, x_);
  return x_;
}

Var SlotStream::settled(const Norm& norm) {
  if (pending_ && !watched()) {
    const Unit unit = *pending_;
    const SumAndNormed both = norm.add(x_, branch_, residual_.a(unit), residual_.b(unit), residual_.dropout(unit, pass_), pass_);
    x_ = both.sum;
    branch_ = Var();
    pending_.reset();
    return both.y;
  }
  settle_for(norm);
  return norm(x_, pass_);
}

/// The sum that `norm` follows, with the bits that it has inside the one pass; by itself, so that its gradient can be read.
void SlotStream::settle_for(const Norm& norm) {
  if (!pending_) return;
  const Unit unit = *pending_;
  x_ = norm.sum(x_, branch_, residual_.a(unit), residual_.b(unit), residual_.dropout(unit, pass_));
  branch_ = Var();
  pending_.reset();
  announce_stream(&unit, x_);
}

/// b * dropout(g), by itself: what is added.
Var SlotStream::added(const Unit& unit, const Var& g) const {
  return times(dropped(g, residual_.dropout(unit, pass_)), residual_.b(unit));
}

Stream::State SlotStream::state() const { return pending_ ? State{{x_, branch_}, pending_} : State{{x_}, std::nullopt}; }

void SlotStream::restore(const State& state) {
  x_ = state.vars.at(0);
  pending_ = state.pending;
  branch_ = pending_ ? state.vars.at(1) : Var();
  normed_ = Var();
}

}  // namespace addnorm
