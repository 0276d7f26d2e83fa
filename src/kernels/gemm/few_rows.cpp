#include "kernels/gemm/few_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/few_rows.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

struct FewRows {
  const float* a;
  size_t lda;
  const float* b;
  size_t ldb;
  size_t k;
  float alpha;
  bool add;
  float* c;
  size_t ldc;
};

/// kRows x kColumns dot products at once, B's rows read in step: one vector of partial sums each, then the rest of k.
template <size_t kRows, size_t kColumns>
HWY_INLINE void dots(const FewRows& g, size_t column) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[kRows][kColumns];
  for (auto& row : sums)
    for (auto& sum : row) sum = hn::Zero(d);
  const float* b = g.b + column * g.ldb;
  size_t p = 0;
  for (; p + lanes <= g.k; p += lanes) {
    hn::Vec<decltype(d)> x[kRows];
    for (size_t i = 0; i < kRows; ++i) x[i] = hn::LoadU(d, g.a + i * g.lda + p);
    for (size_t j = 0; j < kColumns; ++j) {
      const auto w = hn::LoadU(d, b + j * g.ldb + p);
      for (size_t i = 0; i < kRows; ++i) sums[i][j] = hn::MulAdd(x[i], w, sums[i][j]);
    }
  }
  for (size_t i = 0; i < kRows; ++i)
    for (size_t j = 0; j < kColumns; ++j) {
      float sum = hn::GetLane(hn::SumOfLanes(d, sums[i][j]));
      for (size_t q = p; q < g.k; ++q) sum += g.a[i * g.lda + q] * b[j * g.ldb + q];
      float& c = g.c[i * g.ldc + column + j];
      c = g.add ? c + g.alpha * sum : g.alpha * sum;
    }
}

template <size_t kRows>
HWY_INLINE void all_columns(const FewRows& g, size_t n) {
  size_t column = 0;
  for (; column + 4 <= n; column += 4) dots<kRows, 4>(g, column);
  for (; column < n; ++column) dots<kRows, 1>(g, column);
}

void few_rows(const float* a, size_t lda, const float* b, size_t ldb, size_t m, size_t n, size_t k, float alpha, bool add,
              float* c, size_t ldc) {
  const FewRows g{a, lda, b, ldb, k, alpha, add, c, ldc};
  switch (m) {
    case 1: return all_columns<1>(g, n);
    case 2: return all_columns<2>(g, n);
    case 3: return all_columns<3>(g, n);
    default: return all_columns<4>(g, n);
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(few_rows);
}
void few_rows_block(const float* a, std::size_t lda, const float* b, std::size_t ldb, std::size_t m, std::size_t n,
                    std::size_t k, float alpha, bool add, float* c, std::size_t ldc) {
  HWY_DYNAMIC_DISPATCH(few_rows)(a, lda, b, ldb, m, n, k, alpha, add, c, ldc);
}
}  // namespace addnorm::kernels
#endif
