// How fast a block learns to be the identity, with and without a skip around its layers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "addnorm/claims/claim.h"

namespace addnorm::lab {

struct IdentityTask {
  std::size_t layers = 1;  ///< of the block, one after the other, each with its skip where there are skips
  bool linear = false;     ///< a matrix each; else a matrix, GELU, a matrix
  bool skip = true;
  double enough = 0.01;  ///< mean squared error, of a target with variance 1
  std::int64_t most = 1000;
};

/// Weights by the context's rule. Steps of Adam at 3e-3, 64 fresh vectors of width 16 each, until the error is below `enough`;
/// most + 1 where it never is.
std::int64_t steps_to_identity(const ClaimContext& context, const IdentityTask& task, std::uint64_t seed);

}  // namespace addnorm::lab
