#pragma once
#include "addnorm/core/machine.h"
#include "addnorm/model/config.h"
#include "addnorm/train/optimizer.h"
namespace addnorm {
struct MemoryEstimate { double parameters = 0, bytes = 0; };
struct MemoryOptions { OptimizerKind optimizer; std::size_t batch_size; bool recompute; };
inline MemoryEstimate estimate_memory(const ModelConfig&, const MemoryOptions&) { return {}; }
inline void require_fits(const MemoryEstimate&, const MemoryLimit&) {}
}  // namespace addnorm
