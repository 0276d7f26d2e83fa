#include "kernels/reduce/column_sums.h"

#include <cstring>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/column_sums.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// sum[c] += the elements of column c in `kRows` rows, one after the other.
template <std::size_t kRows>
HWY_INLINE void add_rows(const float* x, std::size_t width, std::size_t stride, float* sum) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t c = 0;
  for (; c + lanes <= width; c += lanes) {
    auto s = hn::LoadU(d, sum + c);
    for (std::size_t r = 0; r < kRows; ++r) s = hn::Add(s, hn::LoadU(d, x + r * stride + c));
    hn::StoreU(s, d, sum + c);
  }
  for (; c < width; ++c)
    for (std::size_t r = 0; r < kRows; ++r) sum[c] += x[r * stride + c];
}

void sum_rows(const float* x, std::size_t rows, std::size_t width, std::size_t stride, float* sum) {
  std::memset(sum, 0, width * sizeof(float));
  std::size_t r = 0;
  for (; r + 4 <= rows; r += 4) add_rows<4>(x + r * stride, width, stride, sum);
  for (; r < rows; ++r) add_rows<1>(x + r * stride, width, stride, sum);
}

/// Columns [begin, end) of the partial sums, in double.
void combine_columns(const float* partial, std::size_t blocks, std::size_t width, std::size_t begin, std::size_t end, float* y) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const std::size_t lanes = hn::Lanes(dd);
  std::size_t c = begin;
  for (; c + lanes <= end; c += lanes) {
    auto total = hn::Zero(dd);
    for (std::size_t b = 0; b < blocks; ++b) total = hn::Add(total, hn::PromoteTo(dd, hn::LoadU(df, partial + b * width + c)));
    hn::StoreU(hn::DemoteTo(df, total), df, y + c);
  }
  for (; c < end; ++c) {
    double total = 0;
    for (std::size_t b = 0; b < blocks; ++b) total += static_cast<double>(partial[b * width + c]);
    y[c] = static_cast<float>(total);
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(sum_rows);
HWY_EXPORT(combine_columns);
constexpr std::size_t kColumns = 256;  // per task when blocks are combined
}  // namespace

void column_sums(const float* x, std::size_t rows, std::size_t width, std::size_t stride, float* scratch, float* y) {
  if (width == 0) return;
  parallel_ranges(rows, kBlockRows, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(sum_rows)(x + begin * stride, end - begin, width, stride, scratch + begin / kBlockRows * width);
  });
  combine_partial_sums(scratch, row_blocks(rows), width, y);
}

void combine_partial_sums(const float* partial, std::size_t blocks, std::size_t width, float* y) {
  parallel_ranges(width, kColumns, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(combine_columns)(partial, blocks, width, begin, end, y);
  });
}

}  // namespace addnorm::kernels
#endif
