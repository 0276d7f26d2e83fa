#include "addnorm/residual/residual.h"

#include <algorithm>
#include <cmath>

#include "addnorm/residual/catalogue.h"
#include "residual/catalogue/role_groups.h"
#include "residual/class_arrangement.h"
#include "residual/streams/slot_stream.h"

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

namespace {

Distribution distribution(InitSpec::Base base, double deviation, std::size_t fan_in, std::size_t fan_out, std::size_t width) {
  using Base = InitSpec::Base;
  const auto per_root = [](std::size_t n) { return 1 / std::sqrt(static_cast<double>(n)); };
  switch (base) {
    case Base::xavier_uniform:
      return xavier_uniform(fan_in, fan_out);
    case Base::xavier_normal:
      return xavier_normal(fan_in, fan_out);
    case Base::normal:
      return normal(deviation);
    case Base::fan_in_uniform:
      return uniform(per_root(fan_in));
    case Base::fan_in_normal:
      return normal(per_root(fan_in));
    case Base::small_normal:
      return normal(std::sqrt(0.4) * per_root(width));
  }
  throw UsageError(concat("initialisation: base ", static_cast<int>(base), " is none of xavier_uniform ... small_normal"));
}

}  // namespace

std::optional<Distribution> Residual::init(const Parameter& parameter, const Part& part) const {
  const InitSpec& spec = arrangement_.init;
  const InitSpec::Draw* draw = spec.draw_of(part.role, parameter.place.sub_layer);
  if (!is_matrix(part.role) && !draw) return std::nullopt;
  const std::size_t fan_in = parameter.fan_in > 0 ? parameter.fan_in : parameter.value.shape().back();
  const auto drawn = [&](InitSpec::Base base, double deviation) {
    return distribution(base, deviation, fan_in, part.rows, shape_.width);
  };
  const bool by_width = is_embedding(part.role) && spec.base != InitSpec::Base::normal;
  Distribution from = draw       ? drawn(draw->base, draw->deviation)
                      : by_width ? drawn(InitSpec::Base::fan_in_normal, 0)
                                 : drawn(spec.base, spec.deviation);
  const Unit at{.layer = parameter.place.layer.value_or(0), .sub_layer = parameter.place.sub_layer.value_or(SubLayer::self)};
  for (const InitGain& gain : spec.gains)
    if (gain.acts_on(part.role, parameter.place.sub_layer)) from = from.scaled(value_of(gain.gain, shape_, at));
  return from;
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

namespace {

bool has_norm(const UnitSlots& slots) { return slots.in || slots.mid || slots.out || slots.post; }

bool has_norm(const Arrangement& row) {
  if (!row.is_row() || row.entry || row.exit || has_norm(row.unit)) return true;
  return std::ranges::any_of(row.overrides, [](const Override& other) { return has_norm(other.slots); });
}

/// No kind of norm was asked for (what a model passes on by default), or `none` was.
bool asks_for_nothing(const NormKindOptions& o) {
  const NormKindOptions d;
  if (o.formula == NormFormula::none) return true;
  return o.formula == d.formula && o.eps == d.eps && o.gain == d.gain && o.bias == d.bias &&
         o.gain_is_one_plus == d.gain_is_one_plus;
}

}  // namespace

Arrangement with_options(const Arrangement& row, const ResidualOptions& options) {
  Arrangement chosen = with_init(with_choices(row, options.choices), options.init);
  chosen.entry = options.embedding_norm.value_or(chosen.entry);
  chosen.exit = options.final_norm.value_or(chosen.exit);
  require(has_norm(chosen) || asks_for_nothing(options.norm), "arrangement '", row.name, "' has no norm, so that the norm ",
          formula_of(options.norm), " would change nothing; leave norm at its default, or add one with final_norm or ",
          "embedding_norm");
  return chosen;
}

std::unique_ptr<Residual> make_chosen(const Arrangement& chosen, const StackShape& shape, const ResidualOptions& options) {
  if (chosen.make) return chosen.make(chosen, shape, options);
  if (chosen.is_row()) return std::make_unique<SlotResidual>(chosen, shape, options);
  const ClassArrangement* one = find_class(chosen);
  require(one != nullptr, "arrangement '", chosen.name, "' has a text instead of slots, but no class computes it: set `make`");
  return one->make(chosen, shape, options);
}

std::unique_ptr<Residual> make_residual(const Arrangement& row, const StackShape& shape, const ResidualOptions& options) {
  return make_chosen(with_options(row, options), shape, options);
}

std::unique_ptr<Residual> make_residual(std::string_view name, const StackShape& shape, const ResidualOptions& options) {
  return make_residual(arrangement_named(name), shape, options);
}

}  // namespace addnorm
