// The initialisation of an arrangement as text, with the numbers of a stack.
#include <algorithm>
#include <array>

#include "addnorm/core/error.h"
#include "addnorm/residual/explain.h"
#include "residual/unit_groups.h"

namespace addnorm {
namespace {

struct Matrix {
  Role role;
  const char* name;
  bool cross = false;
};
constexpr std::array kMatrices{Matrix{Role::q, "W_q"},
                               Matrix{Role::k, "W_k"},
                               Matrix{Role::v, "W_v"},
                               Matrix{Role::attention_out, "W_o"},
                               Matrix{Role::q, "W_q", true},
                               Matrix{Role::k, "W_k", true},
                               Matrix{Role::v, "W_v", true},
                               Matrix{Role::attention_out, "W_o", true},
                               Matrix{Role::ffn_in, "W_1"},
                               Matrix{Role::ffn_out, "W_2"},
                               Matrix{Role::token_embedding, "embeddings"}};

bool is_embedding(Role role) { return role == Role::token_embedding || role == Role::position_embedding; }

std::string base_text(const InitSpec& spec, Role role) {
  if (spec.base == InitSpec::Base::normal) return concat("N(0, ", spec.deviation, "²)");
  if (is_embedding(role)) return "N(0, 1/d)";
  return spec.base == InitSpec::Base::xavier_uniform ? "Xavier uniform" : "Xavier normal";
}

/// ", times (8L)^−¼ = 0.3195"; of a gain that differs from layer to layer the first and the last.
std::string gain_text(const DepthRule& gain, const StackShape& shape) {
  const double first = value_of(gain, shape, shape.unit(0, 0)), last = value_of(gain, shape, shape.unit(shape.layers - 1, 0));
  const std::string text = text_of(gain, shape), number = short_number(first);
  const std::string begin = text == number ? concat(", times ", number) : concat(", times ", text, " = ", number);
  return first == last ? begin : concat(begin, " in layer 1 … ", short_number(last), " in layer ", shape.layers);
}

std::string rule_of(const Matrix& matrix, const InitSpec& spec, const StackShape& shape) {
  std::string rule = base_text(spec, matrix.role);
  for (const InitGain& gain : spec.gains)
    if ((gain.cross || !matrix.cross) && std::ranges::find(gain.roles, matrix.role) != gain.roles.end())
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
  for (const Matrix& matrix : kMatrices) {
    if (matrix.cross && !(crosses && differs)) continue;
    const std::string rule = rule_of(matrix, row.init, shape);
    auto found = std::ranges::find(groups, rule, &Group::rule);
    if (found == groups.end()) found = groups.insert(groups.end(), {rule, "", ""});
    std::string& names = matrix.cross ? found->of_cross : found->names;
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
