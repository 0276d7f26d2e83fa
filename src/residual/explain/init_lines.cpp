// The initialisation of an arrangement as text, with the numbers of a stack.
#include <algorithm>
#include <array>

#include "addnorm/core/error.h"
#include "addnorm/residual/explain.h"
#include "residual/catalogue/role_groups.h"
#include "residual/catalogue/unit_groups.h"

namespace addnorm {
namespace {

struct Matrix {
  Role role;
  std::optional<SubLayer> at{};  ///< nothing: outside of the stack
  std::string name{};            ///< empty: by its role
};
constexpr std::array kOfAttention{Role::q, Role::k, Role::v, Role::attention_out};

bool has_sub_layer(const StackShape& shape, SubLayer at) {
  return std::ranges::find(shape.sub_layers, at) != shape.sub_layers.end();
}

std::vector<OuterMatrix> outer_of_any_model(StackKind kind) {
  std::vector<OuterMatrix> all{{Role::token_embedding}, {Role::position_embedding}};
  if (kind != StackKind::encoder) all.push_back({Role::head});
  return all;
}

/// In the order in which they are listed.
std::vector<Matrix> matrices_of(const DrawnStack& stack) {
  std::vector<Matrix> all;
  for (const SubLayer at : {SubLayer::self, SubLayer::cross})
    for (const Role role : kOfAttention)
      if (has_sub_layer(stack.shape, at)) all.push_back({role, at});
  for (const Role role : {Role::ffn_in, Role::ffn_out, Role::bias})
    if (has_sub_layer(stack.shape, SubLayer::ffn) && (role != Role::bias || stack.biases)) all.push_back({role, SubLayer::ffn});
  for (const OuterMatrix& outer : stack.outer.value_or(outer_of_any_model(stack.shape.kind)))
    all.push_back({outer.role, std::nullopt, outer.name});
  return all;
}

std::string called(const Matrix& matrix) {
  if (!matrix.name.empty()) return matrix.name;
  return matrix.role == Role::bias ? "biases of W_1 and W_2" : symbol_of(matrix.role);
}

std::string base_text(InitSpec::Base base, double deviation) {
  using Base = InitSpec::Base;
  switch (base) {
    case Base::xavier_uniform:
      return "Xavier uniform";
    case Base::xavier_normal:
      return "Xavier normal";
    case Base::normal:
      return deviation == 1 ? "N(0, 1)" : concat("N(0, ", short_number(deviation), "²)");
    case Base::fan_in_uniform:
      return "U(±1/√fan_in)";
    case Base::fan_in_normal:
      return "N(0, 1/fan_in)";
    case Base::small_normal:
      return "N(0, 2/(5d))";
  }
  return "";
}

std::string base_text(const InitSpec& spec, const Matrix& matrix) {
  const InitSpec::Draw* draw = spec.draw_of(matrix.role, matrix.at);
  if (draw) return base_text(draw->base, draw->deviation);
  if (is_embedding(matrix.role) && spec.base != InitSpec::Base::normal) return "N(0, 1/d)";
  return base_text(spec.base, spec.deviation);
}

/// ", times (8L)^−¼ = 0.3195"; of a gain that differs from layer to layer the first and the last.
std::string gain_text(const DepthRule& gain, const StackShape& shape) {
  const double first = value_of(gain, shape, shape.unit(0, 0)), last = value_of(gain, shape, shape.unit(shape.layers - 1, 0));
  const std::string text = text_of(gain, shape), number = short_number(first);
  const std::string begin = gain.name ? concat(", times ", text, " = ", number) : concat(", times ", number);
  return first == last ? begin : concat(begin, " in layer 1 … ", short_number(last), " in layer ", shape.layers);
}

std::string rule_of(const Matrix& matrix, const InitSpec& spec, const StackShape& shape) {
  std::string rule = base_text(spec, matrix);
  for (const InitGain& gain : spec.gains)
    if (gain.acts_on(matrix.role, matrix.at)) rule += gain_text(gain.gain, shape);
  return rule;
}

/// Cross-attention gets separate lines if it starts differently than self-attention.
bool lists_cross(const InitSpec& spec, const StackShape& shape) {
  if (!has_sub_layer(shape, SubLayer::cross)) return false;
  return std::ranges::any_of(kOfAttention, [&](Role role) {
    return rule_of({role, SubLayer::cross}, spec, shape) != rule_of({role, SubLayer::self}, spec, shape);
  });
}

/// Biases start at 0 unless the rule says otherwise.
bool is_listed(const Matrix& matrix, const InitSpec& spec) {
  return matrix.role != Role::bias || spec.draw_of(matrix.role, matrix.at) != nullptr;
}

}  // namespace

bool DrawnStack::has(Role matrix) const {
  if (is_of_attention(matrix)) return has_sub_layer(shape, SubLayer::self) || has_sub_layer(shape, SubLayer::cross);
  if (is_of_ffn(matrix)) return has_sub_layer(shape, SubLayer::ffn);
  return !outer || std::ranges::find(*outer, matrix, &OuterMatrix::role) != outer->end();
}

std::vector<InitLine> init_lines(const Arrangement& row, const DrawnStack& stack) {
  struct Group {
    std::string rule, names, of_cross;
  };
  std::vector<Group> groups;
  const bool with_cross = lists_cross(row.init, stack.shape);
  const std::string of_tokens = stack.has(Role::token_embedding) ? rule_of({Role::token_embedding}, row.init, stack.shape) : "";
  for (const Matrix& matrix : matrices_of(stack)) {
    const bool cross = matrix.at == SubLayer::cross;
    if ((cross && !with_cross) || !is_listed(matrix, row.init)) continue;
    const std::string rule = rule_of(matrix, row.init, stack.shape);
    if (matrix.role == Role::position_embedding && rule == of_tokens) continue;  // "embeddings" are both
    auto found = std::ranges::find(groups, rule, &Group::rule);
    if (found == groups.end()) found = groups.insert(groups.end(), {rule, "", ""});
    std::string& names = cross ? found->of_cross : found->names;
    names += concat(names.empty() ? "" : ", ", called(matrix));
  }
  std::vector<InitLine> lines;
  for (const Group& group : groups) {
    const char* between = group.names.empty() || group.of_cross.empty() ? "" : "; ";
    lines.push_back(
        {concat(group.names, between, group.of_cross, group.of_cross.empty() ? "" : " of cross-attention"), group.rule});
  }
  return lines;
}

}  // namespace addnorm
