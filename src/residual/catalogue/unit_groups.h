// The units of a stack that an arrangement treats alike, with a name for each group.
#pragma once

#include <string>
#include <vector>

#include "addnorm/residual/arrangement.h"

namespace addnorm {

struct UnitGroup {
  std::string label;        ///< "" all units; "attention", "first ¼ of the layers", "first ¼ of the layers, cross-attention"
  std::vector<Unit> units;  ///< one of every sub-layer that is in it, of its first layer
};
/// Groups in the order in which a token meets them. Two units are alike when their slots are, and when a norm or gains inside the
/// branch do not show that one is attention and the other is not.
std::vector<UnitGroup> unit_groups(const Arrangement& row, const StackShape& shape);

/// Layers between two changes of slots: those of one picture.
struct LayerRange {
  std::string label;  ///< "" all layers; "first ¼ of the layers", "other layers"
  std::size_t first = 0;
};
std::vector<LayerRange> layer_ranges(const Arrangement& row, const StackShape& shape);

/// "attention" where a layer has one kind of it, else "self-attention" and "cross-attention"; "feed-forward".
std::string sub_layer_text(SubLayer sub_layer, const StackShape& shape);
/// At most four digits: "2.213", "1e-05".
std::string short_number(double value);

}  // namespace addnorm
