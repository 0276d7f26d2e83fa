// The units of a stack, and the stream that they pass on to one another.
#include "addnorm/residual/stream.h"

#include <algorithm>
#include <array>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/core/error.h"
#include "addnorm/residual/stack.h"

namespace addnorm {

const char* name_of(StackKind kind) {
  constexpr std::array kNames{"encoder-only", "decoder-only", "encoder", "decoder"};
  return kNames.at(static_cast<std::size_t>(kind));
}

Unit StackShape::unit(std::size_t layer, std::size_t in_layer) const {
  return {.layer = layer,
          .sub_layer = sub_layers[in_layer],
          .index = layer * sub_layers.size() + in_layer,
          .first_in_layer = in_layer == 0,
          .last_in_layer = in_layer + 1 == sub_layers.size()};
}

void check(const StackShape& shape) {
  require(shape.width > 0, "stack '", shape.name, "': width is 0; it must be positive");
  require(shape.layers > 0, "stack '", shape.name, "': layers is 0; it must be positive");
  require(!shape.sub_layers.empty(), "stack '", shape.name, "': a layer has no sub-layers; name self, cross or ffn");
  const bool pair = shape.kind == StackKind::encoder || shape.kind == StackKind::decoder;
  require(!pair || shape.other_layers > 0, "stack '", shape.name, "': it is the ", name_of(shape.kind),
          " of an encoder-decoder, but other_layers is 0");
}

void check(const StackShape& shape, const Unit& unit) {
  const std::size_t in_layer = shape.sub_layers.size();
  const bool there = unit.index < shape.units() && unit.index / in_layer == unit.layer &&
                     shape.sub_layers[unit.index % in_layer] == unit.sub_layer;
  require(there, "stack '", shape.name, "': unit ", unit.index, " in layer ", unit.layer, " (", unit.sub_layer,
          ") is none of its ", shape.layers, " layers of ", in_layer,
          " units; take units from StackShape::unit(layer, in_layer)");
}

std::string path_of(const StackShape& shape, const Unit& unit) {
  const auto begin = shape.sub_layers.begin();
  const auto here = begin + static_cast<std::ptrdiff_t>(unit.index % shape.sub_layers.size());
  const auto before = std::count(begin, here, unit.sub_layer);
  return concat("layers.", unit.layer, ".", unit.sub_layer, before == 0 ? "" : std::to_string(before + 1));
}

Var Stream::close() {
  Var y = do_close();
  if (observer_ && !replaying()) observer_->on_output(y);
  return y;
}

void Stream::announce_branch(const Unit& unit, const Var& added) const {
  if (observer_ && !replaying()) observer_->on_branch(unit, added);
}
void Stream::announce_stream(const Unit* unit, const Var& x) const {
  if (observer_ && !replaying()) observer_->on_stream(unit, x);
}

Stream::Parted Stream::parted(const Unit& unit, const Var& x) const {
  if (!watched()) return {x, x};
  const Var branch = reshape(x, x.shape());  // recorded first: its gradient arrives last, as it does without an observer
  Parted both{reshape(x, x.shape()), branch};
  if (!replaying()) observer_->on_parting(unit, x, both.skip, both.branch);
  return both;
}

}  // namespace addnorm
