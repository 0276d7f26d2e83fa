#include "addnorm/kernels/fma_peak.h"

#include <algorithm>
#include <chrono>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/fma_peak.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Ten independent chains: enough to cover a latency of 4-5 cycles on two units, few enough for sixteen registers.
double multiply_add_part(size_t rounds, float start) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.5f + start);
  const auto term = hn::Set(d, 0.25f);
  // Different first values: equal chains would be merged into one by the compiler.
  auto a0 = hn::Set(d, start), a1 = hn::Set(d, start * 2), a2 = hn::Set(d, start * 3), a3 = hn::Set(d, start * 4);
  auto a4 = hn::Set(d, start * 5), a5 = hn::Set(d, start * 6), a6 = hn::Set(d, start * 7), a7 = hn::Set(d, start * 8);
  auto a8 = hn::Set(d, start * 9), a9 = hn::Set(d, start * 10);
  for (size_t i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, factor, term);
    a1 = hn::MulAdd(a1, factor, term);
    a2 = hn::MulAdd(a2, factor, term);
    a3 = hn::MulAdd(a3, factor, term);
    a4 = hn::MulAdd(a4, factor, term);
    a5 = hn::MulAdd(a5, factor, term);
    a6 = hn::MulAdd(a6, factor, term);
    a7 = hn::MulAdd(a7, factor, term);
    a8 = hn::MulAdd(a8, factor, term);
    a9 = hn::MulAdd(a9, factor, term);
  }
  const auto low = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), a4);
  const auto high = hn::Add(hn::Add(hn::Add(a5, a6), hn::Add(a7, a8)), a9);
  volatile float sink = hn::GetLane(hn::Add(low, high));  // the chains must not be optimised away
  (void)sink;
  return 2.0 * 10.0 * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(multiply_add_part);
}  // namespace

double multiply_add(std::size_t rounds) {
  const std::size_t parts = static_cast<std::size_t>(threads());
  double flops = 0;
  parallel_blocks(parts, [&](std::size_t i) {
    const double done = HWY_DYNAMIC_DISPATCH(multiply_add_part)(rounds, 1e-3f);
    if (i == 0) flops = done;
  });
  return flops * static_cast<double>(parts);
}

double fma_peak(int count) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kRounds = 20'000, kWarm = 3;
  constexpr std::chrono::duration<double> kEnough{0.02};
  const int before = threads();
  set_threads(1);  // several would wait for one another while other programs run
  for (std::size_t i = 0; i < kWarm; ++i) multiply_add(kRounds);
  double best = 0;
  for (const auto begun = Clock::now(); best == 0 || Clock::now() - begun < kEnough;) {
    const auto start = Clock::now();
    const double flops = multiply_add(kRounds);
    best = std::max(best, flops / std::chrono::duration<double>(Clock::now() - start).count());
  }
  set_threads(before);
  return count * best;
}

}  // namespace addnorm::kernels
#endif
