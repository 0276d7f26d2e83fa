#include "kernels/reduce/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/softmax.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Elements summed in float lanes before their sum goes to double.
constexpr std::size_t kSumChunk = 512;

/// sum of term(i, count) over [0, n) by vectors: term gives a vector whose lanes from `count` on are 0.
template <class Term>
HWY_INLINE double chunked_sum(std::size_t n, Term term) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  double total = 0;
  for (std::size_t chunk = 0; chunk < n; chunk += kSumChunk) {
    const std::size_t end = std::min(n, chunk + kSumChunk);
    auto sum = hn::Zero(d);
    for (std::size_t i = chunk; i < end; i += lanes) sum = hn::Add(sum, term(i, std::min(lanes, end - i)));
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
  return total;
}

/// The largest element; any value if there is a NaN (the sum of exponentials then is NaN, and so is all that follows).
HWY_INLINE float row_max(const float* x, std::size_t n) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const float lowest = -std::numeric_limits<float>::infinity();
  auto max = hn::Set(d, lowest);
  for (std::size_t i = 0; i < n; i += lanes) max = hn::Max(max, load_some(d, x + i, std::min(lanes, n - i), lowest));
  return hn::GetLane(hn::MaxOfLanes(d, max));
}

/// sum of e^(x - max); with `e` given the terms are written there. e may be x.
HWY_INLINE double exp_sum(const float* x, std::size_t n, float max, float* e) {
  const hn::ScalableTag<float> d;
  const auto m = hn::Set(d, max);
  return chunked_sum(n, [=](std::size_t i, std::size_t count) HWY_ATTR {
    const auto v = exp_or_zero(d, hn::Sub(load_some(d, x + i, count, -std::numeric_limits<float>::infinity()), m));
    if (e != nullptr) store_some(d, v, e + i, count);
    return v;
  });
}

void softmax_rows(const float* x, std::size_t rows, std::size_t width, float* y) {
  const hn::ScalableTag<float> d;
  for (std::size_t r = 0; r < rows; ++r, x += width, y += width) {
    const double sum = exp_sum(x, width, row_max(x, width), y);
    const auto factor = hn::Set(d, static_cast<float>(1.0 / sum));
    for_each_vector(
        width, [=](float* p) HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, p), factor), d, p); }, y);
  }
}

void softmax_grad_rows(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx) {
  const hn::ScalableTag<float> d;
  for (std::size_t r = 0; r < rows; ++r, dy += width, y += width, dx += width) {
    const double mean = chunked_sum(width, [=](std::size_t i, std::size_t count) HWY_ATTR {
      return hn::Mul(load_some(d, dy + i, count, 0.0f), load_some(d, y + i, count, 0.0f));
    });
    const auto m = hn::Set(d, static_cast<float>(mean));
    const auto body = [=](const float* pdy, const float* py, float* pdx)
                          HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, py), hn::Sub(hn::LoadU(d, pdy), m)), d, pdx); };
    for_each_vector(width, body, dy, y, dx);
  }
}

void log_softmax_rows(const float* x, std::size_t rows, std::size_t width, float* y) {
  const hn::ScalableTag<float> d;
  for (std::size_t r = 0; r < rows; ++r, x += width, y += width) {
    const float max = row_max(x, width);
    const auto log_sum = hn::Set(d, static_cast<float>(std::log(exp_sum(x, width, max, nullptr))));
    const auto m = hn::Set(d, max);
    const auto body = [=](const float* px, float* py)
                          HWY_ATTR { hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(d, px), m), log_sum), d, py); };
    for_each_vector(width, body, x, y);
  }
}

void log_softmax_grad_rows(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx) {
  const hn::ScalableTag<float> d;
  for (std::size_t r = 0; r < rows; ++r, dy += width, y += width, dx += width) {
    const auto sum = hn::Set(d, static_cast<float>(chunked_sum(width, [=](std::size_t i, std::size_t count) HWY_ATTR {
                               return load_some(d, dy + i, count, 0.0f);
                             })));
    const auto body = [=](const float* pdy, const float* py, float* pdx) HWY_ATTR {
      hn::StoreU(hn::NegMulAdd(exp_or_zero(d, hn::LoadU(d, py)), sum, hn::LoadU(d, pdy)), d, pdx);
    };
    for_each_vector(width, body, dy, y, dx);
  }
}

using Args = CrossEntropyArgs<float>;

HWY_INLINE double weight_sum(const Args& args) {
  if (args.class_weights == nullptr) return static_cast<double>(args.classes);
  const hn::ScalableTag<float> d;
  return chunked_sum(
      args.classes, [&](std::size_t i, std::size_t count) HWY_ATTR { return load_some(d, args.class_weights + i, count, 0.0f); });
}

/// sum of w_c (z_c - max): no term is positive, so nothing cancels.
HWY_INLINE double weighted_distance(const Args& args, const float* z, float max) {
  const hn::ScalableTag<float> d;
  const auto m = hn::Set(d, max);
  return chunked_sum(args.classes, [&](std::size_t i, std::size_t count) HWY_ATTR {
    const auto distance = hn::Sub(load_some(d, z + i, count, max), m);
    if (args.class_weights == nullptr) return distance;
    const auto w = load_some(d, args.class_weights + i, count, 0.0f);
    return hn::IfThenZeroElse(hn::Eq(w, hn::Zero(d)), hn::Mul(w, distance));  // no 0 * infinity
  });
}

/// dlogits = e * factor - smooth * w, in place of e. Right for every class but the target, whose element the caller writes.
HWY_INLINE void finish_gradient(const Args& args, float factor, float smooth, float* e) {
  const hn::ScalableTag<float> d;
  const auto f = hn::Set(d, factor), s = hn::Set(d, smooth);
  if (args.class_weights == nullptr || smooth == 0.0f) {
    for_each_vector(
        args.classes, [=](float* p) HWY_ATTR { hn::StoreU(hn::MulSub(hn::LoadU(d, p), f, s), d, p); }, e);
    return;
  }
  const auto body = [=](const float* w, float* p)
                        HWY_ATTR { hn::StoreU(hn::MulSub(hn::LoadU(d, p), f, hn::Mul(s, hn::LoadU(d, w))), d, p); };
  for_each_vector(args.classes, body, args.class_weights, e);
}

HWY_INLINE void one_row(const Args& args, std::size_t r, double all_weights) {
  const float* z = args.logits + r * args.classes;
  float* dz = args.dlogits == nullptr ? nullptr : args.dlogits + r * args.classes;
  const auto t = static_cast<std::size_t>(args.targets[r]);
  const double target_class_weight = args.class_weights == nullptr ? 1.0 : static_cast<double>(args.class_weights[t]);
  const double direct = (1 - args.label_smoothing) * target_class_weight;
  const double smooth = args.label_smoothing / static_cast<double>(args.classes);
  const double total = direct + smooth * all_weights;

  const float max = row_max(z, args.classes);
  const double target_distance = static_cast<double>(z[t]) - static_cast<double>(max);
  const double smooth_distance = smooth == 0 ? 0.0 : weighted_distance(args, z, max);  // before dz overwrites z
  const double sum = exp_sum(z, args.classes, max, dz);
  const double log_sum = std::log(sum);

  // A row with a NaN says so even if its classes have no weight: total * log_sum carries it.
  args.losses[r] = total * log_sum - (direct == 0 ? 0.0 : direct * target_distance) - smooth * smooth_distance;
  if (dz == nullptr) return;
  const double p_target = static_cast<double>(dz[t]) / sum;
  const double own = direct + smooth * target_class_weight;
  finish_gradient(args, static_cast<float>(args.gradient_scale * total / sum), static_cast<float>(args.gradient_scale * smooth),
                  dz);
  dz[t] = static_cast<float>(args.gradient_scale * (total * p_target - own));
}

void cross_entropy_rows(const Args& args, std::size_t begin, std::size_t end, double all_weights) {
  for (std::size_t r = begin; r < end; ++r) {
    if (args.targets[r] != args.ignore_index) {
      one_row(args, r, all_weights);
      continue;
    }
    args.losses[r] = 0;
    if (args.dlogits != nullptr) std::memset(args.dlogits + r * args.classes, 0, args.classes * sizeof(float));
  }
}

double all_class_weights(const Args& args) { return weight_sum(args); }

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(softmax_rows);
HWY_EXPORT(softmax_grad_rows);
HWY_EXPORT(log_softmax_rows);
HWY_EXPORT(log_softmax_grad_rows);
HWY_EXPORT(cross_entropy_rows);
HWY_EXPORT(all_class_weights);
}  // namespace

void softmax(const float* x, std::size_t rows, std::size_t width, float* y) {
  parallel_ranges(rows, rows_per_block(width), [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(softmax_rows)(x + begin * width, end - begin, width, y + begin * width);
  });
}
void softmax_grad(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx) {
  parallel_ranges(rows, rows_per_block(width), [=](std::size_t begin, std::size_t end) {
    const std::size_t at = begin * width;
    HWY_DYNAMIC_DISPATCH(softmax_grad_rows)(dy + at, y + at, end - begin, width, dx + at);
  });
}
void log_softmax(const float* x, std::size_t rows, std::size_t width, float* y) {
  parallel_ranges(rows, rows_per_block(width), [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(log_softmax_rows)(x + begin * width, end - begin, width, y + begin * width);
  });
}
void log_softmax_grad(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx) {
  parallel_ranges(rows, rows_per_block(width), [=](std::size_t begin, std::size_t end) {
    const std::size_t at = begin * width;
    HWY_DYNAMIC_DISPATCH(log_softmax_grad_rows)(dy + at, y + at, end - begin, width, dx + at);
  });
}

void cross_entropy(const CrossEntropyArgs<float>& args) {
  const double all_weights = HWY_DYNAMIC_DISPATCH(all_class_weights)(args);
  parallel_ranges(args.rows, rows_per_block(args.classes), [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(cross_entropy_rows)(args, begin, end, all_weights);
  });
}

}  // namespace addnorm::kernels
#endif
