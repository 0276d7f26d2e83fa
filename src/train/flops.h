// Arithmetic of a training step.
#pragma once

#include "addnorm/model/config.h"

namespace addnorm {

/// Multiplications and additions of the matrix products and attention of one step over `sequences` of `tokens` each, forward and
/// backward; a layer that is computed again is counted once.
double flops_per_step(const ModelConfig& completed, std::size_t sequences, std::size_t tokens);

}  // namespace addnorm
