// What an attention looks at: how many keys, and how large its scores are.
#pragma once

#include <cstddef>
#include <span>

#include "addnorm/nn/attention.h"

namespace addnorm {

struct AttentionSeen {
  double entropy = 0;    ///< mean over heads and queries of -sum p ln p, over ln(visible keys): 0 one key, 1 all alike
  double max_logit = 0;  ///< largest |score|, scaled and capped, before softmax
  double rows = 0;       ///< heads times queries that the entropy is a mean of
};

/// Of up to 4 sequences and 16 queries of each, evenly spread over those that are no padding, in double: the cost does not grow
/// with the batch. `query_lengths` [B]: queries from there on are padding; none: no query is. Queries that see fewer than two
/// keys are left out of the entropy. NaN where the caller's mask decides what is visible, and where a score is not
/// finite.
AttentionSeen look_at(const AttentionScores& scores, std::span<const std::size_t> query_lengths = {});

}  // namespace addnorm
