#include "kernels/elementwise/dropout.h"

#include <algorithm>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/dropout.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/philox-inl.h"
#include "kernels/simd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

void dropout_rows(const float* x, std::size_t rows, std::size_t width, const DropoutKeys& keys, std::uint64_t first_row,
                  float* y) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < rows; ++r, x += width, y += width) {
    for (std::size_t c = 0; c < width; c += lanes) {
      const std::size_t count = std::min(lanes, width - c);
      store_some(d, apply_dropout(d, keys, first_row + r, c, load_some(d, x + c, count, 0.0f)), y + c, count);
    }
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(dropout_rows);
}

void dropout(const float* x, std::size_t rows, std::size_t width, float p, std::uint64_t key, std::uint64_t first_row, float* y) {
  const DropoutKeys keys(key, p);
  parallel_ranges(rows, rows_per_block(width), [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(dropout_rows)(x + begin * width, end - begin, width, keys, first_row + begin, y + begin * width);
  });
}

}  // namespace addnorm::kernels
#endif
