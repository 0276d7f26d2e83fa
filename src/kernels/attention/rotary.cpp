#include "kernels/attention/attention.h"

#include <cstring>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/rotary.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Pairs [begin, half) one by one.
HWY_INLINE void turn_rest(const float* x, const float* cos, const float* sin, float sign, std::size_t begin, std::size_t half,
                          bool adjacent, float* y) {
  for (std::size_t i = begin; i < half; ++i) {
    const std::size_t first = adjacent ? 2 * i : i, second = adjacent ? 2 * i + 1 : i + half;
    const float a = x[first], b = x[second], s = sign * sin[i];
    y[first] = a * cos[i] - b * s;
    y[second] = a * s + b * cos[i];
  }
}

HWY_INLINE void turn_halves(const float* x, const float* cos, const float* sin, float sign, std::size_t half, float* y) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= half; i += lanes) {
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + half + i);
    const auto c = hn::LoadU(d, cos + i), s = hn::Mul(hn::Set(d, sign), hn::LoadU(d, sin + i));
    hn::StoreU(hn::Sub(hn::Mul(a, c), hn::Mul(b, s)), d, y + i);
    hn::StoreU(hn::Add(hn::Mul(a, s), hn::Mul(b, c)), d, y + half + i);
  }
  turn_rest(x, cos, sin, sign, i, half, false, y);
}

HWY_INLINE void turn_adjacent(const float* x, const float* cos, const float* sin, float sign, std::size_t half, float* y) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (; i + lanes <= half; i += lanes) {
    hn::Vec<decltype(d)> a, b;
    hn::LoadInterleaved2(d, x + 2 * i, a, b);
    const auto c = hn::LoadU(d, cos + i), s = hn::Mul(hn::Set(d, sign), hn::LoadU(d, sin + i));
    hn::StoreInterleaved2(hn::Sub(hn::Mul(a, c), hn::Mul(b, s)), hn::Add(hn::Mul(a, s), hn::Mul(b, c)), d, y + 2 * i);
  }
#endif
  turn_rest(x, cos, sin, sign, i, half, true, y);
}

void rotary_rows(const RotaryArgs<float>& args, std::size_t begin, std::size_t end) {
  const std::size_t half = args.d_rotary / 2, rest = args.d_head - args.d_rotary;
  const float sign = args.inverse ? -1.0f : 1.0f;
  for (std::size_t r = begin; r < end; ++r) {
    const std::size_t at = static_cast<std::size_t>(args.positions[r]) * half;
    for (std::size_t h = 0; h < args.heads; ++h) {
      const float* x = args.x + r * args.x_stride + h * args.d_head;
      float* y = args.y + r * args.y_stride + h * args.d_head;
      if (args.adjacent)
        turn_adjacent(x, args.cos + at, args.sin + at, sign, half, y);
      else
        turn_halves(x, args.cos + at, args.sin + at, sign, half, y);
      if (x != y && rest != 0) std::memcpy(y + args.d_rotary, x + args.d_rotary, rest * sizeof(float));
    }
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(rotary_rows);
}

void rotary(const RotaryArgs<float>& args) {
  parallel_ranges(args.rows, rows_per_block(args.heads * args.d_head, 32768), [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(rotary_rows)(args, begin, end);
  });
}

}  // namespace addnorm::kernels
#endif
