#include "kernels/elementwise/elementwise.h"

#include <algorithm>

#include "addnorm/core/parallel.h"
#include "kernels/reduce/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/elementwise.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/doubles-inl.h"
#include "kernels/simd/philox-inl.h"
#include "kernels/simd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// y[i] = op(a[i], b[i]) by whole vectors, the rest one by one with one-lane vectors of the same arithmetic.
template <class Op>
HWY_INLINE void transform(const float* a, const float* b, size_t n, float* y, Op op) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(op(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  for (; i < n; ++i) hn::StoreU(op(hn::LoadU(one, a + i), hn::LoadU(one, b + i)), one, y + i);
}

void add_block(const float* a, const float* b, size_t n, float* y) {
  transform(a, b, n, y, [](auto u, auto v) HWY_ATTR { return hn::Add(u, v); });
}
void subtract_block(const float* a, const float* b, size_t n, float* y) {
  transform(a, b, n, y, [](auto u, auto v) HWY_ATTR { return hn::Sub(u, v); });
}
void multiply_block(const float* a, const float* b, size_t n, float* y) {
  transform(a, b, n, y, [](auto u, auto v) HWY_ATTR { return hn::Mul(u, v); });
}
void scale_block(const float* x, float factor, size_t n, float* y) {
  transform(x, x, n, y, [factor](auto u, auto) HWY_ATTR { return hn::Mul(hn::Set(hn::DFromV<decltype(u)>(), factor), u); });
}

void add_bias_rows(const float* x, const float* bias, std::size_t rows, std::size_t width, float* y) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < rows; ++r, x += width, y += width) {
    std::size_t c = 0;
    for (; c + lanes <= width; c += lanes) hn::StoreU(hn::Add(hn::LoadU(d, x + c), hn::LoadU(d, bias + c)), d, y + c);
    for (; c < width; ++c) y[c] = x[c] + bias[c];
  }
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

/// body(d, i) with whole vectors of floats, then with one lane.
template <class Body>
HWY_INLINE void for_each_float(size_t begin, size_t end, Body body) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  size_t i = begin;
  for (; i + lanes <= end; i += lanes) body(d, i);
  for (; i < end; ++i) body(one, i);
}

/// Array after array: y stays in the first-level cache, and the hardware follows two streams however many arrays there are.
/// The first array is added to 0 in registers: y may be that array.
void weighted_block(const float* const* xs, const float* w, size_t count, size_t begin, size_t end, float* y) {
  if (count == 0) return for_each_float(begin, end, [=](auto d, size_t i) HWY_ATTR { hn::StoreU(hn::Zero(d), d, y + i); });
  const float* first = xs[0];
  const float weight = w[0];
  for_each_float(begin, end, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::Zero(d), hn::Mul(hn::Set(d, weight), hn::LoadU(d, first + i))), d, y + i);
  });
  for (size_t k = 1; k < count; ++k) {
    const float* x = xs[k];
    const float factor = w[k];
    for_each_float(begin, end, [=](auto d, size_t i) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::Mul(hn::Set(d, factor), hn::LoadU(d, x + i))), d, y + i);
    });
  }
}

void weighted_grad_block(const float* dy, const float* const* xs, const float* w, size_t count, size_t begin, size_t end,
                         float* const* dxs, double* dw) {
  for (size_t k = 0; k < count; ++k) {
    const float* x = xs[k] + begin;
    const float* up = dy + begin;
    if (dw != nullptr)
      dw[k] = doubles::sum_of(
          end - begin, [=](auto d, size_t i) HWY_ATTR { return hn::Mul(doubles::load(d, up + i), doubles::load(d, x + i)); });
    float* dx = dxs[k];
    const float factor = w[k];
    if (dx != nullptr)
      for_each_float(begin, end, [=](auto d, size_t i) HWY_ATTR {
        hn::StoreU(hn::Mul(hn::Set(d, factor), hn::LoadU(d, dy + i)), d, dx + i);
      });
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(add_block);
HWY_EXPORT(subtract_block);
HWY_EXPORT(multiply_block);
HWY_EXPORT(scale_block);
HWY_EXPORT(add_bias_rows);
HWY_EXPORT(multiply_rows);
HWY_EXPORT(dropout_rows);
HWY_EXPORT(weighted_block);
HWY_EXPORT(weighted_grad_block);
constexpr std::size_t kArrayBlock = 32768;  // elements: 128 KiB per array, long against the cost of a fork
constexpr std::size_t kSumBlock = 4096;     // elements: dy, x and dx of a block fit the second-level cache, dy the first
}  // namespace

void add(const float* a, const float* b, std::size_t n, float* y) {
  parallel_ranges(n, kArrayBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(add_block)(a + begin, b + begin, end - begin, y + begin);
  });
}
void subtract(const float* a, const float* b, std::size_t n, float* y) {
  parallel_ranges(n, kArrayBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(subtract_block)(a + begin, b + begin, end - begin, y + begin);
  });
}
void multiply(const float* a, const float* b, std::size_t n, float* y) {
  parallel_ranges(n, kArrayBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(multiply_block)(a + begin, b + begin, end - begin, y + begin);
  });
}
void scale(const float* x, float factor, std::size_t n, float* y) {
  parallel_ranges(n, kArrayBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(scale_block)(x + begin, factor, end - begin, y + begin);
  });
}

void add_bias(const float* x, const float* bias, std::size_t rows, std::size_t width, float* y) {
  parallel_ranges(rows, rows_per_block(width, 32768), [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(add_bias_rows)(x + begin * width, bias, end - begin, width, y + begin * width);
  });
}

void multiply_rows(const float* x, const float* v, std::size_t rows, std::size_t width, float* y) {
  parallel_ranges(rows, kBlockRows, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(multiply_rows)(x + begin * width, v, end - begin, width, y + begin * width);
  });
}

void dropout(const float* x, std::size_t rows, std::size_t width, float p, std::uint64_t key, std::uint64_t first_row, float* y) {
  const DropoutKeys keys(key, p);
  parallel_ranges(rows, rows_per_block(width), [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(dropout_rows)(x + begin * width, end - begin, width, keys, first_row + begin, y + begin * width);
  });
}

void weighted_sum(const float* const* xs, const float* w, std::size_t count, std::size_t n, float* y) {
  parallel_ranges(n, kSumBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(weighted_block)(xs, w, count, begin, end, y);
  });
}

std::size_t weighted_sum_grad_scratch(std::size_t count, std::size_t n) { return (n + kSumBlock - 1) / kSumBlock * count; }

void weighted_sum_grad(const float* dy, const float* const* xs, const float* w, std::size_t count, std::size_t n, double* scratch,
                       float* const* dxs, double* dw) {
  parallel_ranges(n, kSumBlock, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(weighted_grad_block)
    (dy, xs, w, count, begin, end, dxs, dw == nullptr ? nullptr : scratch + begin / kSumBlock * count);
  });
  if (dw != nullptr) combine_column_blocks(scratch, (n + kSumBlock - 1) / kSumBlock, count, count, dw);
}

}  // namespace addnorm::kernels
#endif
