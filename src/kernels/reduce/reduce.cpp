#include "kernels/reduce/reduce.h"

#include <algorithm>

#include "addnorm/core/parallel.h"
#include "kernels/reduce/column_blocks.h"

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

void multiply_rows(const float* x, const float* v, size_t rows, size_t width, float* y) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < rows; ++r) {
    const float* row = x + r * width;
    float* out = y + r * width;
    size_t j = 0;
    for (; j + lanes <= width; j += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, row + j), hn::LoadU(d, v + j)), d, out + j);
    for (; j < width; ++j) out[j] = row[j] * v[j];
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
HWY_EXPORT(multiply_rows);
HWY_EXPORT(column_dots_block);
constexpr std::size_t kReduceBlock = 32768;  // elements

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

void multiply_rows(const float* x, const float* v, std::size_t rows, std::size_t width, float* y) {
  parallel_ranges(rows, kBlockRows, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(multiply_rows)(x + begin * width, v, end - begin, width, y + begin * width);
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

}  // namespace addnorm::kernels
#endif
