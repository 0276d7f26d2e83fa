#include "kernels/reduce/reduce.h"

#include <algorithm>
#include <cstring>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/reduce.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

double sum_block(const float* x, size_t n) {
  return doubles::sum_of(n, [=](auto d, size_t i) HWY_ATTR { return doubles::load(d, x + i); });
}
double dot_block(const float* a, const float* b, size_t n) {
  return doubles::sum_of(n, [=](auto d, size_t i) HWY_ATTR { return hn::Mul(doubles::load(d, a + i), doubles::load(d, b + i)); });
}

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

void column_dots_block(const float* a, const float* b, size_t rows, size_t width, double* dots) {
  doubles::add_to_columns(rows, width, dots, [=](auto d, size_t r, size_t j, auto& total) HWY_ATTR {
    total = hn::Add(total, hn::Mul(doubles::load(d, a + r * width + j), doubles::load(d, b + r * width + j)));
  });
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(sum_block);
HWY_EXPORT(dot_block);
HWY_EXPORT(sum_rows);
HWY_EXPORT(combine_columns);
HWY_EXPORT(column_dots_block);
constexpr std::size_t kReduceBlock = 32768;     // elements
constexpr std::size_t kColumns = 256;           // per task when blocks of floats are combined
constexpr std::size_t kColumnsOfDoubles = 512;  // ... of doubles

/// block(begin, end) is the sum of a block; the result their sum in block order.
template <class Block>
double sum_of_blocks(std::size_t n, double* scratch, Block block) {
  parallel_ranges(n, kReduceBlock,
                  [=](std::size_t begin, std::size_t end) { scratch[begin / kReduceBlock] = block(begin, end); });
  double total = 0;
  for (std::size_t b = 0; b < reduce_scratch(n); ++b) total += scratch[b];
  return total;
}

}  // namespace

std::size_t reduce_scratch(std::size_t n) { return (n + kReduceBlock - 1) / kReduceBlock; }

double sum(const float* x, std::size_t n, double* scratch) {
  return sum_of_blocks(
      n, scratch, [=](std::size_t begin, std::size_t end) { return HWY_DYNAMIC_DISPATCH(sum_block)(x + begin, end - begin); });
}

double dot(const float* a, const float* b, std::size_t n, double* scratch) {
  return sum_of_blocks(n, scratch, [=](std::size_t begin, std::size_t end) {
    return HWY_DYNAMIC_DISPATCH(dot_block)(a + begin, b + begin, end - begin);
  });
}

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

std::size_t column_dots_scratch(std::size_t rows, std::size_t width) { return row_blocks(rows) * width; }

void column_dots(const float* a, const float* b, std::size_t rows, std::size_t width, double* scratch, double* dots) {
  parallel_ranges(rows, kBlockRows, [=](std::size_t begin, std::size_t end) {
    double* partial = scratch + begin / kBlockRows * width;
    std::fill_n(partial, width, 0.0);
    HWY_DYNAMIC_DISPATCH(column_dots_block)(a + begin * width, b + begin * width, end - begin, width, partial);
  });
  combine_column_blocks(scratch, row_blocks(rows), width, width, dots);
}

void combine_column_blocks(const double* partial, std::size_t blocks, std::size_t stride, std::size_t width, double* total) {
  parallel_ranges(width, kColumnsOfDoubles, [=](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) total[j] = 0;
    for (std::size_t block = 0; block < blocks; ++block)
      for (std::size_t j = begin; j < end; ++j) total[j] += partial[block * stride + j];
  });
}

}  // namespace addnorm::kernels
#endif
