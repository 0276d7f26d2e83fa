// Matrices that initialisations treat alike. Functions, not globals: a program's own globals may register an arrangement before
// those of a file would be there.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "addnorm/nn/kinds.h"
#include "addnorm/residual/arrangement.h"

namespace addnorm {

inline bool names_role(const std::vector<Role>& roles, Role role) { return std::ranges::find(roles, role) != roles.end(); }
inline bool is_embedding(Role role) { return role == Role::token_embedding || role == Role::position_embedding; }
inline bool is_of_attention(Role role) {
  return role == Role::q || role == Role::k || role == Role::v || role == Role::attention_out;
}
inline bool is_of_ffn(Role role) { return role == Role::ffn_in || role == Role::ffn_gate || role == Role::ffn_out; }

/// The sub-layers that have matrices of a role; nothing for those outside of them.
inline std::vector<std::optional<SubLayer>> places_of(Role role) {
  if (is_of_attention(role)) return {SubLayer::self, SubLayer::cross};
  return {is_of_ffn(role) ? std::optional(SubLayer::ffn) : std::nullopt};
}

inline std::vector<Role> embeddings() { return {Role::token_embedding, Role::position_embedding}; }
/// Those that write into the stream.
inline std::vector<Role> writing_matrices() { return {Role::attention_out, Role::ffn_out}; }
inline std::vector<Role> value_and_ffn() { return {Role::v, Role::attention_out, Role::ffn_in, Role::ffn_gate, Role::ffn_out}; }
inline std::vector<Role> branch_matrices() {
  return {Role::q, Role::k, Role::v, Role::attention_out, Role::ffn_in, Role::ffn_gate, Role::ffn_out};
}

/// Of W_o and W_2, those with a norm after them wherever they stand: it takes out how strong they are.
std::vector<Role> normed_matrices(const Arrangement& row);

}  // namespace addnorm
