// The predicted skip gain of rows: explain.h has the derivation.
#include <algorithm>
#include <cmath>

#include "addnorm/residual/explain.h"
#include "residual/class_arrangement.h"

namespace addnorm {
namespace {

/// Of a matrix with as many inputs as the stream has features.
double base_gain(InitSpec::Base base) {
  using Base = InitSpec::Base;
  if (base == Base::small_normal) return std::sqrt(0.4);
  return base == Base::fan_in_uniform ? std::sqrt(1.0 / 3) : 1;
}

/// What the row draws a role from, and the product of its initial gains: those that count.
double role_gain(const Arrangement& row, const StackShape& shape, const Unit& unit, Role role, NormalInit init) {
  const InitSpec::Draw* draw = row.init.draw_of(role, unit.sub_layer);
  const InitSpec::Base base = draw ? draw->base : row.init.base;
  const bool all = base != InitSpec::Base::normal || init == NormalInit::with_its_gains;
  double product = base_gain(base);
  for (const InitGain& gain : row.init.gains)
    if ((all || gain.added) && gain.acts_on(role, unit.sub_layer)) product *= value_of(gain.gain, shape, unit);
  return product;
}

double out_gain(const Arrangement& row, const StackShape& shape, const Unit& unit, NormalInit init) {
  return role_gain(row, shape, unit, unit.sub_layer == SubLayer::ffn ? Role::ffn_out : Role::attention_out, init);
}

double squared(double x) { return x * x; }

struct Skipped {
  double gain = 1, variance = 1;
  void norm() {
    gain /= std::sqrt(variance);
    variance = 1;
  }
};

/// Variance of b g, with the stream of variance v before the unit.
double branch_variance(const Arrangement& row, const StackShape& shape, const Unit& unit, double v, NormalInit init) {
  const UnitSlots& slots = row.slots(shape, unit);
  const double b = squared(value_of(slots.b.start, shape, unit));
  if (slots.out) return b;
  if (slots.mid) return b * squared(out_gain(row, shape, unit, init));
  const double read = slots.in ? squared(value_of(slots.in_scale, shape, unit)) : v;
  return b * squared(branch_gain(row, shape, unit, init)) * read;
}

}  // namespace

double branch_gain(const Arrangement& row, const StackShape& shape, const Unit& unit, NormalInit init) {
  const Role first = unit.sub_layer == SubLayer::ffn ? Role::ffn_in : Role::v;
  return role_gain(row, shape, unit, first, init) * out_gain(row, shape, unit, init);
}

std::optional<SkipGain> skip_gain(const Arrangement& row, const StackShape& shape, NormalInit init) {
  if (!skip_gain_reason(row).empty()) return std::nullopt;
  if (!row.is_row()) {
    const StreamSum out = class_of(row).gain(shape, {row, shape, init});
    return SkipGain{out.gain(), std::sqrt(out.variance())};
  }
  Skipped x;
  double profiled = 1;  // Admin's a^2 of the next unit that is profiled
  for (std::size_t i = 0; i < shape.units(); ++i) {
    const Unit unit = shape.unit(i);
    const UnitSlots& slots = row.slots(shape, unit);
    const double branch = branch_variance(row, shape, unit, x.variance, init);
    const double a = slots.a.profiled ? std::sqrt(profiled) : value_of(slots.a.start, shape, unit);
    if (slots.a.profiled) profiled = squared(a) * x.variance + branch;
    if (slots.skip == Skip::normed) x.norm();
    x = {.gain = a * x.gain, .variance = squared(a) * x.variance + branch};
    if (slots.post) x.norm();
  }
  if (row.exit) x.norm();
  return SkipGain{x.gain, std::sqrt(x.variance)};
}

std::string skip_gain_reason(const Arrangement& row) {
  if (!row.is_row()) return find_class(row) ? "" : "it is a class of your own";
  const auto none = [](const UnitSlots& slots) { return slots.skip == Skip::none; };
  const bool missing = none(row.unit) || std::ranges::any_of(row.overrides, none, &Override::slots);
  return missing ? "there is no skip" : "";
}

}  // namespace addnorm
