// Products without another library, for platforms that oneDNN does not know: tiles of 4 rows by 2 vectors.
//
// Every sum runs over k in order, 256 elements at a time, so its bits depend on neither m nor n.
#include "kernels/gemm/multiply.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/multiply_own.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace own_product {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
constexpr size_t kLanes = hn::MaxLanes(D());
constexpr size_t kColumns = 2 * kLanes;
constexpr size_t kDepth = 256;  // of the copied panel

struct Tile {
  const Operand* a;    // its element (row, p) meets row p of the panel
  const float* panel;  // [depth, kColumns]
  size_t depth, columns;
  float alpha;
  bool add;
  float* c;
  size_t ldc;
};

float element(const Operand& x, size_t row, size_t column) {
  return x.transposed ? x.data[column * x.ld + row] : x.data[row * x.ld + column];
}

template <size_t kRows>
void multiply_tile(const Tile& t, size_t row, size_t p0) {
  const D d;
  hn::Vec<D> low[kRows], high[kRows];
  for (size_t r = 0; r < kRows; ++r) low[r] = high[r] = hn::Zero(d);
  for (size_t p = 0; p < t.depth; ++p) {
    const auto b0 = hn::Load(d, t.panel + p * kColumns), b1 = hn::Load(d, t.panel + p * kColumns + kLanes);
    for (size_t r = 0; r < kRows; ++r) {
      const auto a = hn::Set(d, element(*t.a, row + r, p0 + p));
      low[r] = hn::MulAdd(a, b0, low[r]);
      high[r] = hn::MulAdd(a, b1, high[r]);
    }
  }
  HWY_ALIGN float sums[kColumns];
  for (size_t r = 0; r < kRows; ++r) {
    hn::Store(low[r], d, sums);
    hn::Store(high[r], d, sums + kLanes);
    float* c = t.c + (row + r) * t.ldc;
    for (size_t j = 0; j < t.columns; ++j) c[j] = t.alpha * sums[j] + (t.add ? c[j] : 0.0f);
  }
}

}  // namespace own_product

void own_multiply(const Operand& a, const Operand& b, size_t m, size_t n, size_t k, float alpha, bool add, float* c, size_t ldc) {
  using namespace own_product;
  HWY_ALIGN float panel[kDepth * kColumns];
  for (size_t j = 0; j < n; j += kColumns) {
    const size_t columns = HWY_MIN(kColumns, n - j);
    for (size_t p0 = 0; p0 == 0 || p0 < k; p0 += kDepth) {
      const size_t depth = HWY_MIN(kDepth, k - p0);
      for (size_t p = 0; p < depth; ++p)
        for (size_t i = 0; i < kColumns; ++i) panel[p * kColumns + i] = i < columns ? element(b, p0 + p, j + i) : 0.0f;
      const Tile tile{&a, panel, depth, columns, alpha, add || p0 > 0, c + j, ldc};
      size_t row = 0;
      for (; row + 4 <= m; row += 4) multiply_tile<4>(tile, row, p0);
      for (; row < m; ++row) multiply_tile<1>(tile, row, p0);
    }
  }
}

}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
HWY_EXPORT(own_multiply);
void own::multiply(const Operand& a, const Operand& b, std::size_t m, std::size_t n, std::size_t k, float alpha, bool add,
                   float* c, std::size_t ldc) {
  HWY_DYNAMIC_DISPATCH(own_multiply)(a, b, m, n, k, alpha, add, c, ldc);
}
}  // namespace addnorm::kernels
#endif
