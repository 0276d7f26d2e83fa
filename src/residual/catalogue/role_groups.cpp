#include "residual/catalogue/role_groups.h"

#include <array>
#include <utility>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

/// In the order of a layer.
constexpr std::array kSymbols{std::pair{Role::q, "W_q"},
                              std::pair{Role::k, "W_k"},
                              std::pair{Role::v, "W_v"},
                              std::pair{Role::attention_out, "W_o"},
                              std::pair{Role::ffn_in, "W_1"},
                              std::pair{Role::ffn_gate, "the gate of W_1"},
                              std::pair{Role::ffn_out, "W_2"},
                              std::pair{Role::token_embedding, "embeddings"},
                              std::pair{Role::position_embedding, "learned positions"},
                              std::pair{Role::head, "a head of its own"},
                              std::pair{Role::weight, "other matrices"}};

/// Said by the name of another that is there.
bool is_understood(Role role, const std::vector<Role>& all) {
  return (role == Role::ffn_gate && names_role(all, Role::ffn_in)) ||
         (role == Role::position_embedding && names_role(all, Role::token_embedding));
}

}  // namespace

std::vector<std::optional<SubLayer>> places_of(Role role) {
  if (is_of_attention(role)) return {SubLayer::self, SubLayer::cross};
  return {is_of_ffn(role) ? std::optional(SubLayer::ffn) : std::nullopt};
}

std::vector<Role> embeddings() { return {Role::token_embedding, Role::position_embedding}; }
std::vector<Role> writing_matrices() { return {Role::attention_out, Role::ffn_out}; }
std::vector<Role> value_and_ffn() { return {Role::v, Role::attention_out, Role::ffn_in, Role::ffn_gate, Role::ffn_out}; }
std::vector<Role> branch_matrices() {
  return {Role::q, Role::k, Role::v, Role::attention_out, Role::ffn_in, Role::ffn_gate, Role::ffn_out};
}

const std::vector<std::string>& names(InitSpec::Base) {
  static const std::vector<std::string> all{"xavier_uniform", "xavier_normal", "normal",
                                            "fan_in_uniform", "fan_in_normal", "small_normal"};
  return all;
}

const char* symbol_of(Role matrix) {
  for (const auto& [role, symbol] : kSymbols)
    if (role == matrix) return symbol;
  throw UsageError(concat("symbol_of: ", matrix, " is no matrix"));
}

std::string symbols_of(const std::vector<Role>& matrices) {
  std::string text;
  for (const auto& [role, symbol] : kSymbols)
    if (names_role(matrices, role) && !is_understood(role, matrices)) text += concat(text.empty() ? "" : ", ", symbol);
  return text;
}

}  // namespace addnorm
