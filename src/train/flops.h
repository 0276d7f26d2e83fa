// Arithmetic of a training step.
#pragma once

#include "addnorm/data/dataset.h"
#include "addnorm/model/config.h"

namespace addnorm {

/// What goes through a model at once, padding included.
struct StepShape {
  std::size_t sequences = 0;
  std::size_t tokens = 0;         ///< of a sequence; of a seq2seq's source
  std::size_t target_tokens = 0;  ///< of a seq2seq's target
};
StepShape shape_of(const Batch& batch);

/// Multiplications and additions of one step over a batch of this shape, by the common count: 6 per weight of the matrix
/// products and token (2 forward, 4 backward), and 12 width per query and key for attention (4 forward, 8 backward), as if
/// nothing were masked. A causal kernel has half of the second to do; what is computed again is counted once. Norms, biases added
/// to rows and the optimizer are left out, but for the biases of maps, which count as weights.
double flops_per_step(const ModelConfig& completed, const StepShape& shape);

}  // namespace addnorm
