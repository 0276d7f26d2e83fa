// The stack an arrangement is made for, its residual units, and numbers that follow from its depth.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/nn/kinds.h"

namespace addnorm {

/// Constants that follow from depth differ: an encoder beside a decoder is not an encoder by itself.
enum class StackKind : unsigned char { encoder_only, decoder_only, encoder, decoder };
const char* name_of(StackKind kind);  ///< "encoder-only", ..., "encoder", "decoder" (of an encoder-decoder)

/// One residual unit: a sub-layer and the skip around it.
struct Unit {
  std::size_t layer = 0;  ///< from 0
  SubLayer sub_layer = SubLayer::self;
  std::size_t index = 0;  ///< in the stack, from 0
  bool first_in_layer = true;
  bool last_in_layer = false;
};

struct StackShape {
  std::size_t width = 0;
  std::size_t layers = 0;
  std::vector<SubLayer> sub_layers{SubLayer::self, SubLayer::ffn};  ///< of every layer, in order
  StackKind kind = StackKind::decoder_only;
  std::size_t other_layers = 0;  ///< of the other stack of an encoder-decoder
  std::string name = "stack";    ///< where its dropout masks come from

  std::size_t units() const { return layers * sub_layers.size(); }
  Unit unit(std::size_t layer, std::size_t in_layer) const;
  Unit unit(std::size_t index) const { return unit(index / sub_layers.size(), index % sub_layers.size()); }
};

/// Refuses no layers, no width, a layer without sub-layers, and an encoder-decoder whose other stack has no layers.
void check(const StackShape& shape);
/// Refuses a unit that is not one of the shape's, made by hand or of another stack.
void check(const StackShape& shape, const Unit& unit);
/// Where its parameters and dropout masks are found: "layers.3.ffn". A sub-layer that a layer has twice is counted:
/// "layers.3.ffn2".
std::string path_of(const StackShape& shape, const Unit& unit);

/// A number, or one that follows from the depth of the stack: "deepnorm-alpha", "units", ...
struct DepthRule {
  const char* name = nullptr;  ///< of depth_rule_names(), where it lives; null: the constant
  double constant = 1;

  bool is_one() const { return !name && constant == 1; }
};
double value_of(const DepthRule& rule, const StackShape& shape, const Unit& unit);
std::string text_of(const DepthRule& rule);                           ///< "(2L)^¼", "1/√l", "0.5"
std::string text_of(const DepthRule& rule, const StackShape& shape);  ///< in an encoder-decoder some rules read otherwise
/// A UsageError with the nearest name and the list, if there is no such rule.
DepthRule depth_rule_named(std::string_view name);
std::vector<std::string> depth_rule_names();

}  // namespace addnorm
