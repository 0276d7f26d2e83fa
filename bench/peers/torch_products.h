// How well PyTorch's own products do on this processor: what a ratio to PyTorch is worth depends on it.
#pragma once

#include <optional>

#include "bench/measure.h"

namespace addnorm::bench {

/// Shares of the FMA peak, of one layer's product, measured in the same rounds.
struct ProductShares {
  std::vector<std::size_t> shape;  ///< tokens, inputs, outputs
  int threads = 1;
  double torch = 0, ours = 0;
};

/// Nothing when PyTorch does not answer.
std::optional<ProductShares> product_shares(Peer& peer, int threads, const Effort& effort, Limits& limits);

}  // namespace addnorm::bench
