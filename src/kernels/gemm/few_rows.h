// C [m, n] = A [m, k] * B^T for one to four rows: what decoding does with every weight [out, in].
#pragma once

#include <cstddef>

namespace addnorm::kernels {

inline constexpr std::size_t kFewRows = 4;

/// c[i, j] = alpha * dot(a[i], b[j]), plus what c holds when `add`; m <= kFewRows. Reads B once; on the calling thread.
/// An element's bits do not depend on m.
void few_rows_block(const float* a, std::size_t lda, const float* b, std::size_t ldb, std::size_t m, std::size_t n, std::size_t k,
                    float alpha, bool add, float* c, std::size_t ldc);

}  // namespace addnorm::kernels
