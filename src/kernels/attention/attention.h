// Multi-head scaled-dot-product attention, forward and backward, on strided views: nothing is transposed in memory. And the
// rotary embedding, which turns queries and keys before.
//
//   s_ij = scale * q_i . k_j                    or softcap * tanh(s_ij / softcap) where a softcap is given
//   s_ij = s_ij + bias_ij;   -inf where (i, j) is masked
//   o_i  = sum_j p_ij v_j,   p_ij = exp(s_ij - lse_i),   lse_i = log sum_j exp(s_ij)
//
// Head h of q reads head h / (heads / kv_heads) of k and v (grouped-query attention; kv_heads divides heads).
// A query that may see no key at all has o = 0, lse = -inf, and passes no gradient: never NaN.
//
// Tiled with an online softmax; what is kept is lse alone, and backward computes p again tile by tile. No buffer grows
// with queries * keys, tiles that are masked throughout are skipped. Keys at or beyond key_lengths[b] are never read; every
// other key must be finite, masked or not: it may take part with weight 0.
// Products are float32, lse is kept in double: at logits near 1e4 a float lse would be off by 5e-4.
// The same bits for any number of threads.
#pragma once

#include <cstddef>

#include "kernels/attention/args.h"
#include "kernels/reference/attention.h"

namespace addnorm::kernels {

/// Floats of scratch that forward and backward need with the threads that will take part: all that are worth it, or one inside a
/// parallel loop. Grows with d_head + d_value, not with the lengths.
std::size_t attention_forward_scratch(const AttentionArgs& args);
std::size_t attention_backward_scratch(const AttentionArgs& args);

/// Work is split over (batch, head, 64 queries).
void attention_forward(const AttentionArgs& args);
/// Work is split over (batch, kv head): one of each is the least that runs on one thread.
void attention_backward(const AttentionGradArgs& args);

inline void attention_forward(const BasicAttentionArgs<double>& args) { reference::attention_forward(args); }
inline void attention_backward(const BasicAttentionGradArgs<double>& args) { reference::attention_backward(args); }

/// Rotary position embedding: pairs of a head's elements turn by an angle that grows with the position.
///
///   (a, b) -> (a cos - b sin, a sin + b cos)
///
/// Two products and one sum per element, each rounded: equals the reference bit for bit on every target. The gradient is
/// the inverse turn of dy. Any head size, also turning only its first d_rotary elements; rows may stand in a packed array.
void rotary(const RotaryArgs<float>& args);
inline void rotary(const RotaryArgs<double>& args) { reference::rotary(args); }

/// The cos and sin that rotary reads, of every position.
using reference::rotary_tables;

}  // namespace addnorm::kernels
