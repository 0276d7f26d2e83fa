#include "support/near.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace addnorm::test {
namespace {

template <class G, class W>
testing::AssertionResult compare(std::span<const G> got, std::span<const W> want, Tolerance tolerance) {
  if (got.size() != want.size()) return testing::AssertionFailure() << got.size() << " values, expected " << want.size();
  double worst = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto g = static_cast<double>(got[i]);
    const auto w = static_cast<double>(want[i]);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    const double allowance = tolerance.atol + tolerance.rtol * std::abs(w);
    double off = std::abs(g - w) / allowance;
    if (!std::isfinite(off)) off = HUGE_VAL;
    if (off > worst) {
      worst = off;
      where = i;
    }
  }
  if (worst <= 1) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "element " << where << " of " << got.size() << ": got " << static_cast<double>(got[where])
                                     << ", want " << static_cast<double>(want[where]) << ", off by " << worst
                                     << " times the allowance (atol " << tolerance.atol << ", rtol " << tolerance.rtol << ")";
}

}  // namespace

Tolerance reduction_tolerance(std::size_t n) {
  const double bound = 8 * std::sqrt(static_cast<double>(n) + 1) * 0x1p-24;
  return {bound, bound};
}

Tolerance row_sum_tolerance(std::size_t rows) {
  const double in_block = static_cast<double>(std::min<std::size_t>(rows, 64)) / std::sqrt(6.0);
  const double blocks = static_cast<double>((rows + 63) / 64);
  return {6 * (in_block * std::sqrt(blocks) + std::sqrt(static_cast<double>(rows))) * 0x1p-24, 0x1p-22};
}

Tolerance whole_tensor_tolerance(const Tensor& want) {
  double largest = 1;
  for (const double value : want.values<double>()) largest = std::max(largest, std::abs(value));
  return {2e-6 * largest, 0};
}

Tolerance steps_tolerance(std::size_t steps) {
  const double bound = 4 * std::sqrt(static_cast<double>(steps)) * 0x1p-25;
  return {bound, bound};
}

Tolerance sample_variance_tolerance(std::size_t n) { return {0, 5 * std::sqrt(2 / static_cast<double>(n))}; }

Tolerance log_softmax_gradient_tolerance(std::size_t n) {
  const Tolerance softmax = softmax_tolerance();
  return {softmax.atol * 4 * std::sqrt(static_cast<double>(n)), softmax.rtol};
}

testing::AssertionResult near_all(std::span<const float> got, std::span<const float> want, Tolerance tolerance) {
  return compare(got, want, tolerance);
}
testing::AssertionResult near_all(std::span<const float> got, std::span<const double> want, Tolerance tolerance) {
  return compare(got, want, tolerance);
}
testing::AssertionResult near_all(std::span<const double> got, std::span<const double> want, Tolerance tolerance) {
  return compare(got, want, tolerance);
}

testing::AssertionResult near_all(const Tensor& got, const Tensor& want, Tolerance tolerance) {
  if (!(got.shape() == want.shape()))
    return testing::AssertionFailure() << "shape " << got.shape() << ", expected " << want.shape();
  const Tensor g = got.to(DType::f64);
  const Tensor w = want.to(DType::f64);
  return compare(g.values<double>(), w.values<double>(), tolerance);
}

testing::AssertionResult same_bits(std::span<const float> got, std::span<const float> want) {
  if (got.size() != want.size()) return testing::AssertionFailure() << got.size() << " values, expected " << want.size();
  for (std::size_t i = 0; i < got.size(); ++i)
    if (std::bit_cast<std::uint32_t>(got[i]) != std::bit_cast<std::uint32_t>(want[i]))
      return testing::AssertionFailure() << "element " << i << " of " << got.size() << ": " << std::hexfloat << got[i]
                                         << " is not " << want[i];
  return testing::AssertionSuccess();
}

std::vector<float> normal_values(std::size_t n, std::uint64_t seed, double mean, double deviation) {
  std::vector<float> values(n);
  const RandomKey key = RandomKey(seed).with("normal_values");
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(mean + deviation * static_cast<double>(normal_at(key, i)));
  return values;
}

Tensor normal_tensor(const Shape& shape, std::uint64_t seed, DType dtype) {
  return Tensor::of(shape, normal_values(shape.elements(), seed)).to(dtype);
}

}  // namespace addnorm::test
