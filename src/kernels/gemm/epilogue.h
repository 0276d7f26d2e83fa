// What is done to a block of C after its product, while it is in cache.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/elementwise/activations.h"

namespace addnorm::kernels {

/// pre = old + product + bias, c = activation(pre) for a block [rows, columns]. `product` may be c itself.
struct EpilogueArgs {
  std::size_t rows = 0, columns = 0;
  const float* product = nullptr;
  std::size_t ldp = 0;
  bool add = false;             ///< whether c holds old values to add to
  const float* bias = nullptr;  ///< [columns]; null: none
  std::optional<ActivationKind> activation{};
  float* pre = nullptr;  ///< null: not wanted
  std::size_t ldpre = 0;
  float* c = nullptr;
  std::size_t ldc = 0;
};
void gemm_epilogue(const EpilogueArgs& args);

}  // namespace addnorm::kernels
