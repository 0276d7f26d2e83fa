#include "residual/catalogue/init_names.h"

#include <array>
#include <utility>

#include "addnorm/core/error.h"
#include "residual/catalogue/role_groups.h"

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
