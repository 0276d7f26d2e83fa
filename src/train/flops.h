// Arithmetic of a training step.
#pragma once

#include "addnorm/model/config.h"

namespace addnorm {

/// Multiplications and additions of one step over `sequences` of `tokens` each, by the common count: 6 per weight of the matrix
/// products and token (2 forward, 4 backward), and 12 width per query and key for attention (4 forward, 8 backward), as if
/// nothing were masked. A causal kernel has half of the second to do; what is computed again is counted once. Norms, biases added
/// to rows and the optimizer are left out, but for the biases of maps, which count as weights.
double flops_per_step(const ModelConfig& completed, std::size_t sequences, std::size_t tokens);

}  // namespace addnorm
