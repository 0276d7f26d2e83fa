// Parameters by role: how large their gradients are, how much of them is signal, and how far one update moves them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "addnorm/model/model.h"
#include "addnorm/probe/record.h"
#include "addnorm/train/objective.h"

namespace addnorm {

/// see(role, first element, elements) for every part of a parameter.
template <class See>
void for_each_role(const Parameter& parameter, See&& see) {
  const Shape& shape = parameter.value.shape();
  const std::size_t rows = shape.rank() == 0 ? 1 : shape[0];
  const std::size_t row = rows ? parameter.value.value().elements() / rows : 0;
  for (const Part& part : parameter.parts) see(part.role, part.first * row, part.rows * row);
}

class RoleProbe {
 public:
  /// Gradients as they are, and a copy of all weights.
  void before_update(Model& model);
  /// The weights have moved.
  std::vector<RoleRecord> after_update(Model& model);

 private:
  std::vector<Tensor> before_;
  std::vector<RoleRecord> records_;
};

/// Sequences first ... first + count - 1 of a batch.
Batch sequences_of(const Batch& batch, std::size_t first, std::size_t count);

inline constexpr std::size_t kMostNoiseParts = 4;

/// How much of a gradient is signal. By role: ||E g||^2 / E||g - E g||^2, g the gradient of a batch of B sequences, as many as
/// this one has. Estimated from the gradients g_k of n = 2 to 4 parts of m = floor(B / n) sequences (mean loss of each, without
/// dropout, batch norms by their running statistics), with G their mean:
///
///   noise = sum over k of ||g_k - G||^2 / (n (n - 1)),   signal = ||G||^2 - noise;   max(0, signal) / noise * B / (n m)
///
/// Noise and signal are those of n m sequences, each without bias; the last factor is for those that are left over, as the noise
/// of a mean falls with their number. Their ratio, and 0 in place of what is below, are estimates with a bias: n is small.
/// Empty for one sequence. One forward and backward pass; the model's gradients are put aside and back, bit for bit.
std::map<std::string, double> gradient_snr(Model& model, const Batch& batch);

}  // namespace addnorm
