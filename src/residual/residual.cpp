#include "addnorm/residual/residual.h"

#include <algorithm>

#include "addnorm/residual/catalogue.h"
#include "residual/classes.h"
#include "residual/slot_residual.h"

namespace addnorm {

Residual::Residual(Arrangement arrangement, StackShape shape, ResidualOptions options)
    : arrangement_(std::move(arrangement)), shape_(std::move(shape)), options_(std::move(options)) {
  check(shape_);
  require(options_.dropout >= 0 && options_.dropout < 1, "arrangement '", arrangement_.name, "': dropout is ", options_.dropout,
          "; it must be at least 0 and below 1");
}

BranchOptions Residual::branch(const Unit&) const { return {}; }

void Residual::calibrate(const std::function<void(StreamObserver*)>&) {}

DropoutSpec Residual::dropout(const Unit& unit, const Pass& pass) const {
  if (!pass.train || options_.dropout == 0) return {};
  const std::string site = concat(shape_.name, path_of(shape_, unit).substr(std::string_view("layers").size()));
  return {.p = options_.dropout, .key = pass.key(site).bits(), .first_row = pass.first_row};
}

std::optional<Distribution> Residual::init(const Parameter& parameter, const Part& part) const {
  if (!is_matrix(part.role)) return std::nullopt;
  const InitSpec& spec = arrangement_.init;
  const Unit at{.layer = parameter.place.layer.value_or(0), .sub_layer = parameter.place.sub_layer.value_or(SubLayer::self)};
  std::optional<Distribution> base = xavier_rule(parameter, part);
  const bool embedding = part.role == Role::token_embedding || part.role == Role::position_embedding;
  if (spec.base == InitSpec::Base::normal) base = normal(spec.deviation);
  if (spec.base == InitSpec::Base::xavier_normal && !embedding) base = xavier_normal(parameter.value.shape().back(), part.rows);
  for (const InitGain& gain : spec.gains) {
    const bool here = gain.cross || parameter.place.sub_layer != SubLayer::cross;
    if (here && std::ranges::find(gain.roles, part.role) != gain.roles.end())
      base = base->scaled(value_of(gain.gain, shape_, at));
  }
  return base;
}

std::unique_ptr<Stream> Residual::open(const Var& x0, const Pass& pass, StreamObserver* observer) const {
  require(x0.defined() && x0.shape().rank() >= 1 && x0.shape().back() == shape_.width, "arrangement '", arrangement_.name,
          "': the stack's input is ", x0.defined() ? x0.shape().text() : "undefined", "; its last axis must be ", shape_.width);
  std::unique_ptr<Stream> stream = do_open(pass, observer);
  stream->begin(x0);
  return stream;
}

std::unique_ptr<Stream> Residual::resume(const Stream::State& state, const Pass& pass, StreamObserver* observer) const {
  std::unique_ptr<Stream> stream = do_open(pass, observer);
  stream->restore(state);
  return stream;
}

std::unique_ptr<Residual> make_chosen(const Arrangement& chosen, const StackShape& shape, const ResidualOptions& options) {
  if (chosen.make) return chosen.make(chosen, shape, options);
  if (chosen.is_row()) return std::make_unique<SlotResidual>(chosen, shape, options);
  const ResidualFactory make = class_named(chosen.name);
  require(make != nullptr, "arrangement '", chosen.name, "' has a text instead of slots, but no class computes it: set `make`");
  return make(chosen, shape, options);
}

std::unique_ptr<Residual> make_residual(const Arrangement& row, const StackShape& shape, const ResidualOptions& options) {
  return make_chosen(with_options(row, options), shape, options);
}

std::unique_ptr<Residual> make_residual(std::string_view name, const StackShape& shape, const ResidualOptions& options) {
  return make_residual(arrangement_named(name), shape, options);
}

}  // namespace addnorm
