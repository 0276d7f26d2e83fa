// What initialisations speak of: matrices that they treat alike, the names of bases and matrices, and what a deviation may be.
// Functions, not globals: a program's own globals may register an arrangement before those of a file would be there.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/nn/kinds.h"
#include "addnorm/residual/arrangement.h"
#include "addnorm/residual/init_spec.h"

namespace addnorm {

inline bool names_role(const std::vector<Role>& roles, Role role) { return std::ranges::find(roles, role) != roles.end(); }
inline bool is_embedding(Role role) { return role == Role::token_embedding || role == Role::position_embedding; }
inline bool is_of_attention(Role role) {
  return role == Role::q || role == Role::k || role == Role::v || role == Role::attention_out;
}
inline bool is_of_ffn(Role role) { return role == Role::ffn_in || role == Role::ffn_gate || role == Role::ffn_out; }

/// The sub-layers that have matrices of a role; nothing for those outside of them.
std::vector<std::optional<SubLayer>> places_of(Role role);

std::vector<Role> embeddings();
std::vector<Role> writing_matrices();  ///< those that write into the stream
std::vector<Role> value_and_ffn();
std::vector<Role> branch_matrices();

/// Of W_o and W_2, those with a norm after them wherever they stand: it takes out how strong they are.
std::vector<Role> normed_matrices(const Arrangement& row);

/// Bases in files and messages, in the order of the enum.
const std::vector<std::string>& names(InitSpec::Base);
/// A matrix as it is usually written: "W_o", "embeddings".
const char* symbol_of(Role matrix);
/// "W_v, W_o, W_1, W_2", in the order of a layer. The gate goes with W_1 and learned positions with embeddings, where these are
/// named too.
std::string symbols_of(const std::vector<Role>& matrices);

/// What deviations and factors of weights must be, since weights are float32 in the end: above 0, finite, and with all their
/// digits as float32.
inline bool is_positive_float(double value) {
  return value >= std::numeric_limits<float>::min() && value <= std::numeric_limits<float>::max();
}
inline constexpr const char* kFloatRange = "that float32 holds: 1.2e-38 to 3.4e+38";

}  // namespace addnorm
