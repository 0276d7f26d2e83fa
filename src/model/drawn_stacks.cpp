// Which matrices of a model start by the rule of which stack.
#include "addnorm/model/stack.h"

namespace addnorm {
namespace {

bool has_head(const ModelConfig& c, StackKind kind) {
  if (c.model == ModelKind::mlp || c.model == ModelKind::classifier) return true;
  return kind != StackKind::encoder && c.head && !c.tied;
}

std::vector<OuterMatrix> outer_of(const ModelConfig& c, StackKind kind) {
  const bool tells_classes = c.model == ModelKind::mlp || c.model == ModelKind::classifier;
  const bool has_table = has_tokens(c.model) && !(kind == StackKind::decoder && c.shared_vocab);  // that is the encoder's
  std::vector<OuterMatrix> all;
  if (has_table) all.push_back({Role::token_embedding});
  if (has_tokens(c.model) && c.positions == PositionKind::learned) all.push_back({Role::position_embedding});
  if (c.model == ModelKind::mlp) all.push_back({Role::weight, "in.weight"});
  if (c.d_embedding > 0 || c.head_transform) all.push_back({Role::weight});
  if (has_head(c, kind)) all.push_back({Role::head, tells_classes ? "out.weight" : ""});
  return all;
}

DrawnStack drawn_stack(const ModelConfig& config, const StackShape& shape) {
  DrawnStack stack = shape;
  stack.outer = outer_of(config, shape.kind);
  stack.biases = config.bias;
  return stack;
}

}  // namespace

std::vector<DrawnStack> drawn_stacks(const ModelConfig& config) {
  std::vector<DrawnStack> stacks{drawn_stack(config, first_stack_shape(config))};
  if (config.model == ModelKind::seq2seq) stacks.push_back(drawn_stack(config, stack_shape(config, StackKind::decoder)));
  return stacks;
}

}  // namespace addnorm
