#include "kernels/gemm/gemm.h"

#include <dnnl.h>

namespace addnorm::kernels {

void gemm(const float* a, std::size_t lda, const float* b, std::size_t ldb, std::size_t m, std::size_t n, std::size_t k,
          float* c, std::size_t ldc) {
  const auto size = [](std::size_t s) { return static_cast<dnnl_dim_t>(s); };
  dnnl_sgemm('N', 'N', size(m), size(n), size(k), 1.0f, a, size(lda), b, size(ldb), 0.0f, c, size(ldc));
}

}  // namespace addnorm::kernels
