#include "addnorm/nn/kinds.h"

#include <array>
#include <ostream>

namespace addnorm {
namespace {

constexpr std::array kRoles{
    "q",    "k",      "v",    "attention_out", "ffn_in",    "ffn_gate",   "ffn_out", "token_embedding", "position_embedding",
    "head", "weight", "bias", "norm_gain",     "norm_bias", "coefficient"};
constexpr std::array kSubLayers{"self", "cross", "ffn"};

}  // namespace

const char* name_of(Role role) { return kRoles.at(static_cast<std::size_t>(role)); }
std::ostream& operator<<(std::ostream& out, Role role) { return out << name_of(role); }
bool is_matrix(Role role) { return role < Role::bias; }
const char* name_of(SubLayer sub_layer) { return kSubLayers.at(static_cast<std::size_t>(sub_layer)); }
std::ostream& operator<<(std::ostream& out, SubLayer sub_layer) { return out << name_of(sub_layer); }

}  // namespace addnorm
