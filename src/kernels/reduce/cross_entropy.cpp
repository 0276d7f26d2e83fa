#include "kernels/reduce/cross_entropy.h"

#include <cmath>
#include <cstring>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/cross_entropy.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/reduce/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

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
HWY_EXPORT(cross_entropy_rows);
HWY_EXPORT(all_class_weights);
}  // namespace

void cross_entropy(const CrossEntropyArgs<float>& args) {
  const double all_weights = HWY_DYNAMIC_DISPATCH(all_class_weights)(args);
  parallel_ranges(args.rows, rows_per_block(args.classes), [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(cross_entropy_rows)(args, begin, end, all_weights);
  });
}

}  // namespace addnorm::kernels
#endif
