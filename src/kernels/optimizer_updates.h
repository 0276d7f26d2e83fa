// Optimizer updates over flat arrays. Clipping is sum_of_squares (reduce.h) and scale (elementwise.h).
//
// Memory-bound: Adam reads 4 and writes 3 floats per element in one pass. Element by element, so the same bits for any
// number of threads. A moment below 1.2e-38 in size is stored as 0: left alone, the first moment of a parameter without
// gradients stays denormal for ever and makes every later step slow. A NaN gradient makes its parameter NaN.
#pragma once

#include <cstddef>

#include "kernels/optimizer_args.h"
#include "kernels/reference/optimizer_updates.h"

namespace addnorm::kernels {

/// One step of AdamW (or Adam) on parameters p with gradients g and moments m, v, all [n]. The formula, that of
/// torch.optim.AdamW, is in the reference; each parameter is rounded once per step.
void adam(const float* g, const AdamSettings& settings, std::size_t n, float* p, float* m, float* v);

/// One step of SGD with momentum, Nesterov or plain; velocity [n] starts as 0 and may be null when momentum is 0.
void sgd(const float* g, const SgdSettings& settings, std::size_t n, float* p, float* velocity);

inline void adam(const double* g, const AdamSettings& settings, std::size_t n, double* p, double* m, double* v) {
  reference::adam(g, settings, n, p, m, v);
}
inline void sgd(const double* g, const SgdSettings& settings, std::size_t n, double* p, double* velocity) {
  reference::sgd(g, settings, n, p, velocity);
}

}  // namespace addnorm::kernels
