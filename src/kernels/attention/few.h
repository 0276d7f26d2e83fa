// Attention forward for a few queries and many keys: a path of attention_forward.
#pragma once

#include "kernels/attention/plan.h"

namespace addnorm::kernels {

/// Up to this many queries are taken one by one: with more the tiles are as fast.
inline constexpr std::size_t kFewQueries = 3;

/// Whether sequence b is for this path. Masks apart from causal ones, and softcaps, are left to the tiles.
inline bool has_few_queries(const AttentionArgs& a, std::size_t b) {
  return query_count(a, b) <= kFewQueries && a.softcap == 0 && !attention::has_mask(a);
}
/// Of scratch, for each worker.
std::size_t few_queries_floats(const AttentionArgs& a);
/// All queries of sequence b in head h, on the calling thread.
void attention_few_queries(const AttentionArgs& a, std::size_t b, std::size_t h, float* scratch);

}  // namespace addnorm::kernels
