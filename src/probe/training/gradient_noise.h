// How much of a gradient is signal: over parts of one batch.
#pragma once

#include <map>

#include "addnorm/train/objective.h"

namespace addnorm {

inline constexpr std::size_t kMostNoiseParts = 4;

/// Sequences first ... first + count - 1 of a batch.
Batch sequences_of(const Batch& batch, std::size_t first, std::size_t count);

/// By role: ||E g||^2 / E||g - E g||^2, g the gradient of a batch of B sequences, as many as this one has. Estimated from the
/// gradients g_k of n = 2 to 4 parts of m = floor(B / n) sequences (mean loss of each, without dropout, batch norms by their
/// running statistics), with G their mean:
///
///   noise = sum over k of ||g_k - G||^2 / (n (n - 1)),   signal = ||G||^2 - noise;   max(0, signal) / noise * B / (n m)
///
/// Noise and signal are those of n m sequences, each without bias; the last factor is for those that are left over, as the noise
/// of a mean falls with their number. Their ratio, and 0 in place of what is below, are estimates with a bias: n is small.
/// Empty for one sequence. One forward and backward pass; the model's gradients are put aside and back, bit for bit.
std::map<std::string, double> gradient_snr(Model& model, const Batch& batch);

}  // namespace addnorm
