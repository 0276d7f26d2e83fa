#include "kernels/elementwise/bias.h"

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/bias.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

void add_bias_rows(const float* x, const float* bias, std::size_t rows, std::size_t width, float* y) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < rows; ++r, x += width, y += width) {
    std::size_t c = 0;
    for (; c + lanes <= width; c += lanes) hn::StoreU(hn::Add(hn::LoadU(d, x + c), hn::LoadU(d, bias + c)), d, y + c);
    for (; c < width; ++c) y[c] = x[c] + bias[c];
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(add_bias_rows);
}

void add_bias(const float* x, const float* bias, std::size_t rows, std::size_t width, float* y) {
  parallel_ranges(rows, rows_per_block(width, 32768), [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(add_bias_rows)(x + begin * width, bias, end - begin, width, y + begin * width);
  });
}

}  // namespace addnorm::kernels
#endif
