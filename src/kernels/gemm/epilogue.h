// What is done to a block of C after its product, while it is in cache.
#pragma once

#include <cstddef>

namespace addnorm::kernels {

/// c = old + product + bias for a block [rows, columns]. `product` may be c itself.
struct EpilogueArgs {
  std::size_t rows = 0, columns = 0;
  const float* product = nullptr;
  std::size_t ldp = 0;
  bool add = false;             ///< whether c holds old values to add to
  const float* bias = nullptr;  ///< [columns]; null: none
  float* c = nullptr;
  std::size_t ldc = 0;
};
void gemm_epilogue(const EpilogueArgs& args);

}  // namespace addnorm::kernels
