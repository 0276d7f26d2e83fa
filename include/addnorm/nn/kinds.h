// What parameters, branches and heads can be, by name. Independent of tensors: enough for code that only describes models.
#pragma once

#include <iosfwd>

namespace addnorm {

/// What a parameter is for. Rules go by it, never by its name.
enum class Role : unsigned char {
  q,
  k,
  v,
  attention_out,  ///< W_o
  ffn_in,         ///< W_1
  ffn_gate,       ///< the half of SwiGLU's W_1 that goes through silu
  ffn_out,        ///< W_2
  token_embedding,
  position_embedding,
  head,    ///< from the stream to logits
  weight,  ///< a matrix that is none of these
  bias,
  norm_gain,
  norm_bias,
  coefficient,  ///< of a residual sum or a mix: skip and branch factors, gates
};
const char* name_of(Role role);  ///< "q", "attention_out", ...
std::ostream& operator<<(std::ostream& out, Role role);
/// Matrices: what weight decay is for. Biases, gains and coefficients are left alone.
bool is_matrix(Role role);

/// The branch a parameter or a residual unit belongs to.
enum class SubLayer : unsigned char { self, cross, ffn };
const char* name_of(SubLayer sub_layer);  ///< "self", "cross", "ffn"
std::ostream& operator<<(std::ostream& out, SubLayer sub_layer);

/// Where an arrangement multiplies heads by a learned gain each: before the output projection (the NormFormer paper) or after
/// it, on the result cut into heads (the released code).
enum class HeadGain : unsigned char { none, before_out, after_out };

}  // namespace addnorm
