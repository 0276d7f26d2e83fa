// The initialisation of an arrangement as text, with the numbers of a stack.
#include <algorithm>
#include <array>

#include "addnorm/core/error.h"
#include "addnorm/residual/explain.h"
#include "residual/role_groups.h"
#include "residual/unit_groups.h"

namespace addnorm {
namespace {

struct Matrix {
  Role role;
  const char* name;
  SubLayer sub_layer = SubLayer::self;
  bool outside = false;  ///< of the stack: embeddings and head
};
constexpr std::array kMatrices{Matrix{Role::q, "W_q"},
                               Matrix{Role::k, "W_k"},
                               Matrix{Role::v, "W_v"},
                               Matrix{Role::attention_out, "W_o"},
                               Matrix{Role::q, "W_q", SubLayer::cross},
                               Matrix{Role::k, "W_k", SubLayer::cross},
                               Matrix{Role::v, "W_v", SubLayer::cross},
                               Matrix{Role::attention_out, "W_o", SubLayer::cross},
                               Matrix{Role::ffn_in, "W_1", SubLayer::ffn},
                               Matrix{Role::ffn_out, "W_2", SubLayer::ffn},
                               Matrix{Role::bias, "biases of W_1 and W_2", SubLayer::ffn},
                               Matrix{Role::token_embedding, "embeddings", SubLayer::self, true},
                               Matrix{Role::position_embedding, "learned positions", SubLayer::self, true},
                               Matrix{Role::head, "a head of its own", SubLayer::self, true}};

constexpr std::size_t kEmbeddings = 11;  // of kMatrices
static_assert(kMatrices[kEmbeddings].role == Role::token_embedding);

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
  const InitSpec::Draw* draw = spec.draw_of(matrix.role, matrix.outside ? std::nullopt : std::optional(matrix.sub_layer));
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
    if ((gain.cross || matrix.sub_layer != SubLayer::cross) && names_role(gain.roles, matrix.role))
      rule += gain_text(gain.gain, shape);
  return rule;
}

}  // namespace

std::vector<InitLine> init_lines(const Arrangement& row, const StackShape& shape) {
  struct Group {
    std::string rule, names, of_cross;
  };
  std::vector<Group> groups;
  const bool crosses = std::ranges::find(shape.sub_layers, SubLayer::cross) != shape.sub_layers.end();
  const bool differs = std::ranges::any_of(row.init.gains, [](const InitGain& gain) { return !gain.cross; });
  const std::string of_embeddings = rule_of(kMatrices[kEmbeddings], row.init, shape);
  for (const Matrix& matrix : kMatrices) {
    const bool cross = matrix.sub_layer == SubLayer::cross;
    if (cross && !(crosses && differs)) continue;
    if (matrix.role == Role::bias && !row.init.draw_of(Role::bias, SubLayer::ffn)) continue;
    if (matrix.role == Role::head && !row.init.draw_of(Role::head, std::nullopt)) continue;
    const std::string rule = rule_of(matrix, row.init, shape);
    if (matrix.role == Role::position_embedding && rule == of_embeddings) continue;  // "embeddings" are both
    auto found = std::ranges::find(groups, rule, &Group::rule);
    if (found == groups.end()) found = groups.insert(groups.end(), {rule, "", ""});
    std::string& names = cross ? found->of_cross : found->names;
    names += concat(names.empty() ? "" : ", ", matrix.name);
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
