// Matrix products.
#pragma once

#include <cstddef>

namespace addnorm::kernels {

/// C [m, n] = A [m, k] * B [k, n], row-major with leading dimensions.
void gemm(const float* a, std::size_t lda, const float* b, std::size_t ldb, std::size_t m, std::size_t n, std::size_t k,
          float* c, std::size_t ldc);

}  // namespace addnorm::kernels
