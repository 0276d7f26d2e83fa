// How much of a gradient is signal: over parts of one batch.
#pragma once

#include <map>

#include "addnorm/train/objective.h"

namespace addnorm {

inline constexpr std::size_t kMostNoiseParts = 4;

/// Sequences first ... first + count - 1 of a batch.
Batch sequences_of(const Batch& batch, std::size_t first, std::size_t count);

/// By role: ||E g||^2 / E||g - E g||^2, g the gradient of a batch of this size. Estimated without bias from the gradients g_k of
/// 2 to 4 parts of equal size (mean loss of each, without dropout, batch norms by their running statistics), with G their mean:
///
///   noise = sum over k of ||g_k - G||^2 / (k (k - 1)),   signal = ||G||^2 - noise;   signal / noise, 0 where it is below
///
/// Empty for one sequence. One forward and backward pass; the model's gradients are put aside and back, bit for bit.
std::map<std::string, double> gradient_snr(Model& model, const Batch& batch);

}  // namespace addnorm
