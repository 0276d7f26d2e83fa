#include "addnorm/residual/unit.h"

#include "addnorm/residual/catalogue.h"
#include "residual/streams/slot_stream.h"

namespace addnorm {
namespace {

void settle(DepthRule& rule, const StackShape& stack, const Unit& place) { rule = {.constant = value_of(rule, stack, place)}; }

/// The row as it is at one place of a stack: its slots there, numbers instead of depth rules, no entry and no exit.
Arrangement at_place(const Arrangement& row, const StackShape& stack, const Unit& place) {
  Arrangement unit = row;
  unit.unit = row.slots(stack, place);
  unit.overrides.clear();
  unit.entry = unit.exit = false;
  for (DepthRule* rule : {&unit.unit.in_scale, &unit.unit.a.start, &unit.unit.b.start}) settle(*rule, stack, place);
  return unit;
}

void check_options(const Arrangement& row, const ResidualOptions& options) {
  require(row.between_units.empty(), "ResidualUnit: arrangement '", row.name, "' cannot be a unit by itself: ", row.between_units,
          "; make_residual gives the whole stack");
  require(!options.final_norm.value_or(false), "ResidualUnit: final_norm is the norm after a stack; a unit has none, put a Norm ",
          "after the last one");
  require(!options.embedding_norm.value_or(false), "ResidualUnit: embedding_norm is the norm before a stack; a unit has none, ",
          "put a Norm before the first one");
}

/// A unit of x [.., d] stands alone in its stack.
StackShape alone(const StackShape& stack, const Unit& place) {
  return {.width = stack.width,
          .layers = 1,
          .sub_layers = {place.sub_layer},
          .name = stack.units() == 1 ? stack.name : concat(stack.name, ".", place.layer)};
}

/// Shows what the stack of one unit shows, by names that know of no stack.
class UnitNames final : public Visitor {
 public:
  UnitNames(Visitor& outer, std::string prefix) : outer_(outer), prefix_(std::move(prefix)) {}

 private:
  void see(Parameter& p) override { outer_.parameter(within(p.path), p.value, p.parts); }
  void see_buffer(const std::string& path, Tensor& value) override { outer_.buffer(within(path), value); }
  std::string within(const std::string& path) const {
    if (path.starts_with(prefix_)) return path.substr(prefix_.size());
    const std::string_view layer = "layers.0.";  // a coefficient that a layer shares
    return path.starts_with(layer) ? path.substr(layer.size()) : path;
  }

  Visitor& outer_;
  std::string prefix_;
};

}  // namespace

ResidualUnit::ResidualUnit(std::string_view arrangement, std::size_t d_model, const ResidualOptions& options, std::string site)
    : ResidualUnit(arrangement_named(arrangement),
                   {.width = d_model, .layers = 1, .sub_layers = {SubLayer::ffn}, .name = std::move(site)},
                   {.sub_layer = SubLayer::ffn, .last_in_layer = true}, options) {}

ResidualUnit::ResidualUnit(const Arrangement& row, const StackShape& stack, const Unit& place, const ResidualOptions& options) {
  check_options(row, options);
  check(stack);
  require(!row.make || stack.units() == 1, "ResidualUnit: arrangement '", row.name,
          "' is a class, which is made for a whole stack; ", "of one with ", stack.units(),
          " units no place can be cut out. Name it for a unit by itself, or use make_residual");
  check(stack, place);
  const Arrangement chosen = at_place(with_options(row, options), stack, place);
  ResidualOptions rest = options;
  rest.final_norm = rest.embedding_norm = std::nullopt;
  residual_ = make_chosen(chosen, alone(stack, place), rest);
}

Var ResidualUnit::operator()(const Var& x, const Function& F, const Pass& pass) const {
  require(x.defined(), "ResidualUnit: x is an undefined Var");
  require(static_cast<bool>(F), "ResidualUnit: F is an empty function");
  const auto branch = [&](const Var& u) {
    const Var f = F(u);
    require(f.defined() && f.shape() == x.shape(), "ResidualUnit: F gave ", f.defined() ? f.shape().text() : "an undefined Var",
            ", x is ", x.shape(), "; the branch must keep the shape");
    return f;
  };
  if (!residual_) return after_ ? after_(add(x, branch(x))) : add(x, branch(x));
  const auto stream = residual_->open(x, pass);
  const Unit unit = residual_->shape().unit(0);
  stream->enter(0);
  stream->write(unit, branch(stream->read(unit)));
  stream->leave(0);
  return stream->close();
}

BranchOptions ResidualUnit::branch() const { return residual_ ? residual_->branch(residual_->shape().unit(0)) : BranchOptions{}; }

void ResidualUnit::visit(Visitor& visitor) {
  if (!residual_) return;
  UnitNames inside(visitor, concat("layers.0.", residual_->shape().sub_layers[0], "."));
  residual_->visit(inside);
}

}  // namespace addnorm
