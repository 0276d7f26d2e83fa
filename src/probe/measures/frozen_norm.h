// A norm with its scale held fixed: linear in x, so that it can be taken of every component of a sum by itself.
#pragma once

#include <vector>

#include "nn/norms/norm_kind_info.h"

namespace addnorm {

/// N(y) = sum over components of part(c) + bias, for components that add up to y. By the kind of norm:
///
///   layer                     gamma * (c - mean c) / sigma(y)            beta
///   rms, partial_rms, l2, scale   gamma * c / size(y)                    -
///   batch, not training       gamma * c / sigma                          beta - gamma * mean / sigma, running statistics
///   dyt                       gamma * c * tanh(alpha y) / y              beta
///
/// In double. y [rows, width]; the frozen sizes are those of y, eps included.
class FrozenNorm {
 public:
  FrozenNorm(const Norm& norm, const std::vector<double>& y, std::size_t width);

  void take_part(std::vector<double>& c) const;  ///< c [rows, width] becomes its part of N(y)
  void add_bias(std::vector<double>& to) const;  ///< what N adds to every row, whatever y is

 private:
  std::size_t width_;
  bool identity_ = false;
  FrozenForm form_;
};

}  // namespace addnorm
