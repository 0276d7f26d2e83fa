// Products by oneDNN.
#include <dnnl.h>
#include <omp.h>

#include "kernels/gemm/multiply.h"
#include "kernels/reference/gemm.h"

namespace addnorm::kernels::onednn {

// oneDNN asks OpenMP how many threads it may use, and a thread that is not in a region, or in a region of one, would get all of
// them. The setting belongs to the task (the caller's or the region's own) and is put back.
int hold_to_one_thread() {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  return before;
}
void let_go(int held) { omp_set_num_threads(held); }

// By plain loops should oneDNN refuse (out of memory).
void multiply(const Operand& a, const Operand& b, std::size_t m, std::size_t n, std::size_t k, float alpha, bool add, float* c,
              std::size_t ldc) {
  const auto size = [](std::size_t s) { return static_cast<dnnl_dim_t>(s); };
  const dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', size(m), size(n), size(k), alpha,
                                          a.data, size(a.ld), b.data, size(b.ld), add ? 1.0f : 0.0f, c, size(ldc));
  if (status == dnnl_success) return;
  reference::gemm(GemmArgs<float>{.m = m,
                                  .n = n,
                                  .k = k,
                                  .a = a.data,
                                  .lda = a.ld,
                                  .transpose_a = a.transposed,
                                  .b = b.data,
                                  .ldb = b.ld,
                                  .transpose_b = b.transposed,
                                  .alpha = alpha,
                                  .update = add ? Update::accumulate : Update::overwrite,
                                  .c = c,
                                  .ldc = ldc});
}

}  // namespace addnorm::kernels::onednn
