#include "kernels/gemm/parts.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/panels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void transpose_plain(const float* x, size_t ldx, size_t rows, size_t columns, float* y, size_t ldy) {
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) y[c * ldy + r] = x[r * ldx + c];
}

#if HWY_TARGET == HWY_SCALAR
void transpose(const float* x, size_t ldx, size_t rows, size_t columns, float* y, size_t ldy) {
  transpose_plain(x, ldx, rows, columns, y, ldy);
}
#else
HWY_INLINE void transpose_4x4(const float* x, size_t ldx, float* y, size_t ldy) {
  const hn::FixedTag<float, 4> d;
  const auto r0 = hn::LoadU(d, x), r1 = hn::LoadU(d, x + ldx), r2 = hn::LoadU(d, x + 2 * ldx), r3 = hn::LoadU(d, x + 3 * ldx);
  const auto even_low = hn::InterleaveLower(d, r0, r2), odd_low = hn::InterleaveLower(d, r1, r3);
  const auto even_high = hn::InterleaveUpper(d, r0, r2), odd_high = hn::InterleaveUpper(d, r1, r3);
  hn::StoreU(hn::InterleaveLower(d, even_low, odd_low), d, y);
  hn::StoreU(hn::InterleaveUpper(d, even_low, odd_low), d, y + ldy);
  hn::StoreU(hn::InterleaveLower(d, even_high, odd_high), d, y + 2 * ldy);
  hn::StoreU(hn::InterleaveUpper(d, even_high, odd_high), d, y + 3 * ldy);
}

// Eight rows at a time: as many as a set of the first cache holds when ldx is a power of two.
void transpose(const float* x, size_t ldx, size_t rows, size_t columns, float* y, size_t ldy) {
  const size_t whole_rows = rows / 8 * 8, whole_columns = columns / 4 * 4;
  for (size_t r = 0; r < whole_rows; r += 8)
    for (size_t c = 0; c < whole_columns; c += 4) {
      transpose_4x4(x + r * ldx + c, ldx, y + c * ldy + r, ldy);
      transpose_4x4(x + (r + 4) * ldx + c, ldx, y + c * ldy + r + 4, ldy);
    }
  transpose_plain(x + whole_columns, ldx, whole_rows, columns - whole_columns, y + whole_columns * ldy, ldy);
  transpose_plain(x + whole_rows * ldx, ldx, rows - whole_rows, columns, y + whole_rows, ldy);
}
#endif

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(transpose);
}

void copy_panel(const float* x, std::size_t ldx, std::size_t rows, std::size_t columns, float* y, std::size_t ldy) {
  for (std::size_t r = 0; r < rows; ++r) std::memcpy(y + r * ldy, x + r * ldx, columns * sizeof(float));
}

void transpose_panel(const float* x, std::size_t ldx, std::size_t rows, std::size_t columns, float* y, std::size_t ldy) {
  HWY_DYNAMIC_DISPATCH(transpose)(x, ldx, rows, columns, y, ldy);
}

}  // namespace addnorm::kernels
#endif
