#include "kernels/gemm/parts.h"

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

/// The end of a dot product: the rest of k, then C.
HWY_INLINE void finish(const FewRows& g, size_t i, size_t column, float sum, size_t p) {
  for (; p < g.k; ++p) sum += g.a[i * g.lda + p] * g.b[column * g.ldb + p];
  float& c = g.c[i * g.ldc + column];
  c = g.add ? c + g.alpha * sum : g.alpha * sum;
}

/// One row of B with every row of A, two vectors of partial sums each. Short rows of B are read one after the other, as one
/// stream that the processor's prefetch follows; side by side they reached two thirds of the speed.
template <size_t kRows>
HWY_INLINE void dots_short(const FewRows& g, size_t column) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> even[kRows], odd[kRows];
  for (size_t i = 0; i < kRows; ++i) even[i] = odd[i] = hn::Zero(d);
  const float* b = g.b + column * g.ldb;
  size_t p = 0;
  for (; p + 2 * lanes <= g.k; p += 2 * lanes) {
    const auto w0 = hn::LoadU(d, b + p), w1 = hn::LoadU(d, b + p + lanes);
    for (size_t i = 0; i < kRows; ++i) {
      even[i] = hn::MulAdd(hn::LoadU(d, g.a + i * g.lda + p), w0, even[i]);
      odd[i] = hn::MulAdd(hn::LoadU(d, g.a + i * g.lda + p + lanes), w1, odd[i]);
    }
  }
  for (size_t i = 0; i < kRows; ++i) finish(g, i, column, hn::GetLane(hn::SumOfLanes(d, hn::Add(even[i], odd[i]))), p);
}

/// kColumns rows of B side by side: long rows are as many streams, and several keep more of the memory busy than one.
template <size_t kRows, size_t kColumns>
HWY_INLINE void dots_long(const FewRows& g, size_t column) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[kRows][kColumns];
  for (auto& row : sums)
    for (auto& sum : row) sum = hn::Zero(d);
  const float* b = g.b + column * g.ldb;
  size_t p = 0;
  for (; p + lanes <= g.k; p += lanes)
    for (size_t j = 0; j < kColumns; ++j) {
      const auto w = hn::LoadU(d, b + j * g.ldb + p);
      for (size_t i = 0; i < kRows; ++i) sums[i][j] = hn::MulAdd(hn::LoadU(d, g.a + i * g.lda + p), w, sums[i][j]);
    }
  for (size_t i = 0; i < kRows; ++i)
    for (size_t j = 0; j < kColumns; ++j) finish(g, i, column + j, hn::GetLane(hn::SumOfLanes(d, sums[i][j])), p);
}

template <size_t kRows>
HWY_INLINE void all_columns(const FewRows& g, size_t n) {
  constexpr size_t kLong = 1024;
  constexpr size_t kColumns = kRows <= 2 ? 4 : 2;  // all sums stay in 16 registers
  size_t column = 0;
  if (g.k < kLong)
    for (; column < n; ++column) dots_short<kRows>(g, column);
  for (; column + kColumns <= n; column += kColumns) dots_long<kRows, kColumns>(g, column);
  for (; column < n; ++column) dots_long<kRows, 1>(g, column);
}

void few_rows(const float* a, size_t lda, const float* b, size_t ldb, size_t m, size_t n, size_t k, float alpha, bool add,
              float* c, size_t ldc) {
  const FewRows g{a, lda, b, ldb, k, alpha, add, c, ldc};
  switch (m) {
    case 1:
      return all_columns<1>(g, n);
    case 2:
      return all_columns<2>(g, n);
    case 3:
      return all_columns<3>(g, n);
    default:
      return all_columns<4>(g, n);
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
void few_rows_block(const float* a, std::size_t lda, const float* b, std::size_t ldb, std::size_t m, std::size_t n, std::size_t k,
                    float alpha, bool add, float* c, std::size_t ldc) {
  HWY_DYNAMIC_DISPATCH(few_rows)(a, lda, b, ldb, m, n, k, alpha, add, c, ldc);
}
}  // namespace addnorm::kernels
#endif
