// Comparisons and the tolerances they use. A tolerance is a named function with its reason; tests type no numbers.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "addnorm/core/rng.h"
#include "addnorm/tensor/tensor.h"

namespace addnorm::test {

/// |got - want| <= atol + rtol * |want|.
struct Tolerance {
  double atol;
  double rtol;
};

/// Equal values: -0 equals 0, and NaN any NaN. For bits there is EXPECT_SAME_BITS.
constexpr Tolerance exact() { return {0, 0}; }
/// One float32 rounding per operation, at most four operations deep: 4 * 2^-24 relative; atol for results near 0.
constexpr Tolerance elementwise_tolerance() { return {2.4e-7, 2.4e-7}; }
/// Two units in the last place of a normal float32; atol is the smallest denormal, the unit below the normal ones.
constexpr Tolerance two_ulp() { return {1.5e-45, 2.4e-7}; }
/// A function made of an exponential, a fit and a division, two to three roundings each: 4 ulp, and results below
/// 1e-36 (an exponential below the smallest normal float, times x) may be 0.
constexpr Tolerance function_tolerance() { return {1.1e-36, 4.8e-7}; }
/// The same for derivatives that pass through 0, where terms of size 1 cancel.
constexpr Tolerance slope_tolerance() { return {4.8e-7, 4.8e-7}; }
/// The same for e^-u with u computed in float32 by three roundings: each one counts |u| times.
constexpr Tolerance tail_tolerance(double u) { return {1.1e-36, 4.8e-7 + 1.8e-7 * (u < 0 ? -u : u)}; }
/// Softmax of float32 logits within some 20 of their maximum: rounding x - max counts |x - max| times, in both.
constexpr Tolerance softmax_tolerance() { return {1e-6, 4e-6}; }
/// A float32 reduction over n terms of size about 1 in lanes: the error grows like sqrt(n) * 2^-24, eight deviations.
Tolerance reduction_tolerance(std::size_t n);
/// softcap * tanh(s / softcap): the tanh within 4 ulp, two products and the reciprocal of the cap one rounding each.
constexpr Tolerance softcap_tolerance() { return {0, 4 * 0x1p-23 + 3 * 0x1p-24}; }
/// The variance of a normed row, each value within 4 ULP of max(|y|, 1): errors of one sign count twice |y|.
constexpr Tolerance variance_tolerance() { return {0, 8 * 0x1p-23}; }
/// Lengths and cosines computed in two ways (N-19).
constexpr Tolerance diagnostics_tolerance() { return {0, 1e-6}; }
/// Two normed values of size up to about 2, each within 4 ULP of max(|y|, 1) of the exact one.
constexpr Tolerance two_norms_tolerance() { return {8 * 0x1p-23, 8 * 0x1p-23}; }
/// Sums over rows of terms of size about 1, in float within blocks of 64 rows and in double across. Each term carries its own
/// roundings, about 2^-24; partial sums grow like sqrt(k) and are rounded too, a deviation of 64 / sqrt(6) * 2^-24 per full
/// block. Six deviations of both: cases have up to 10^6 columns.
Tolerance row_sum_tolerance(std::size_t rows);
/// Denormals flushed to zero: off by less than the smallest normal float.
constexpr Tolerance flushed_tolerance() { return {1.18e-38, 0}; }
/// dy - p * sum(dy) with the float32 probability's error multiplied by a sum of n normal values.
Tolerance log_softmax_gradient_tolerance(std::size_t n);
/// Parameters near 1 that were rounded to float32 once per step: a random walk of half-ulp steps, four deviations.
Tolerance steps_tolerance(std::size_t steps);
/// The mean square of n independent draws around their variance: a deviation of at most sqrt(2 / n) of it (normal draws), five.
Tolerance sample_variance_tolerance(std::size_t n);
/// Values of size about 1 computed in double in two ways, up to some hundred roundings each.
constexpr Tolerance double_tolerance() { return {1e-12, 1e-12}; }
/// What holds on average over random weights, seen in one network of some hundred features and tokens: a deviation of three
/// percent per figure, four of those.
constexpr Tolerance one_network_tolerance() { return {0, 0.12}; }
/// Sums in double in another order.
constexpr Tolerance double_sum_tolerance() { return {0, 1e-13}; }
/// A sum of float32 values in double against the same sum in another order: up to 1e5 terms of size about 1 that cancel.
constexpr Tolerance signed_double_sum_tolerance() { return {1e-11, 1e-11}; }
/// A float32 dot product of n normal values, summed one after the other: partial sums grow like sqrt(n), their n roundings
/// add up to a deviation of about n * 2^-26; eight of those, and four operations on the result.
constexpr Tolerance product_tolerance(std::size_t n) { return {2 * static_cast<double>(n + 4) * 0x1p-24, 4 * 0x1p-24}; }
/// The same where there are tens of thousands of sums: some end at s, three deviations away, on a straight way there, and their
/// roundings go with it: a deviation of about sqrt(n / 3) * 2^-26 * 1.7 s; four of those.
inline Tolerance products_tolerance(std::size_t n) {
  return {product_tolerance(n).atol, 4 * 0x1p-24 + std::sqrt(static_cast<double>(n)) * 0x1p-24};
}
/// 4 units in the last place of max(|y|, 1): our bar for norms (docs/testing.md).
constexpr Tolerance norm_tolerance() { return {4.8e-7, 4.8e-7}; }
/// The bar for single operators against the ONNX backend tests, computed there in float32 by NumPy. (Theirs is 1e-3.)
constexpr Tolerance onnx_tolerance() { return {1e-6, 1e-5}; }
/// Our bar for float32 gradients against the double reference (docs/testing.md).
constexpr Tolerance gradient_tolerance() { return {1e-6, 1e-5}; }
/// The same for dx of a norm, which is rstd times terms of size 1: what cancels among them leaves an error of that size.
constexpr Tolerance norm_gradient_tolerance(double largest_rstd) {
  return {gradient_tolerance().atol * largest_rstd, gradient_tolerance().rtol};
}
/// Whole layers and stacks against PyTorch in float64: max error <= 2e-6 * max(1, max |want|) per tensor, want in float64. A
/// tensor's errors come from sums of values as large as its largest, so they are measured against that. PyTorch's own float32
/// reaches 1e-6.
Tolerance whole_tensor_tolerance(const Tensor& want);
/// Activations of a small trained model, recorded in float32 by another program: both sides round.
constexpr Tolerance recorded_tolerance() { return {1e-5, 0}; }

/// Double arithmetic in another order through a few dozen norms of values of size about 1, which may amplify what came before.
constexpr Tolerance rounded_apart_tolerance() { return {1e-10, 1e-10}; }
/// Numbers printed with four digits: half a unit of the last, and as much again for a rounding at its border.
constexpr double four_digits(double value) { return 1e-3 * (value < 0 ? -value : value); }
/// A mean over 96 tokens of 192 features, of random branches in 6 units: each unit's random matrix is correlated with the input
/// by some 1/192, the tokens by 1/sqrt(96 * 192); four of both, relative to the deviation of what is measured.
constexpr double random_branch_tolerance(double deviation) { return 0.05 * deviation; }
/// Losses, gradient norms and final weights of a short training run against PyTorch in float64.
constexpr Tolerance training_tolerance() { return {1e-5, 0}; }
/// The same run in float64 here: sums in another order, through 20 steps of Adam, which divides by what is close to 0.
constexpr Tolerance training_in_double_tolerance() { return {1e-11, 0}; }
/// N-18: logits, loss and gradients of a whole model.
constexpr Tolerance model_logits_tolerance() { return {1e-4, 0}; }
constexpr Tolerance model_gradient_tolerance() { return {1e-6, 1e-4}; }
/// N-17 as far as float32 parameters go: see tests/train/trainer/parity_test.cpp.
constexpr double thousand_steps_tolerance() { return 1e-6; }

/// Passes when every element is within the tolerance; NaN equals only NaN. On failure: index, both values, error over
/// allowance of the worst element.
testing::AssertionResult near_all(std::span<const float> got, std::span<const float> want, Tolerance tolerance);
testing::AssertionResult near_all(std::span<const float> got, std::span<const double> want, Tolerance tolerance);
testing::AssertionResult near_all(std::span<const double> got, std::span<const double> want, Tolerance tolerance);
testing::AssertionResult near_all(const Tensor& got, const Tensor& want, Tolerance tolerance);
/// The same bits, NaN payloads and the sign of zero included.
testing::AssertionResult same_bits(std::span<const float> got, std::span<const float> want);

#define EXPECT_NEAR_ALL(got, want, tolerance) EXPECT_TRUE(::addnorm::test::near_all((got), (want), (tolerance)))
#define EXPECT_SAME_BITS(got, want) EXPECT_TRUE(::addnorm::test::same_bits((got), (want)))

/// Runs `statement` and expects an E whose message contains every one of the given parts.
template <class E, class Body>
testing::AssertionResult throws_saying(Body&& body, std::initializer_list<std::string> parts) {
  try {
    body();
  } catch (const E& error) {
    const std::string message = error.what();
    for (const std::string& part : parts)
      if (message.find(part) == std::string::npos)
        return testing::AssertionFailure() << "the message lacks '" << part << "': " << message;
    return testing::AssertionSuccess();
  } catch (const std::exception& other) {
    return testing::AssertionFailure() << "another kind of error was thrown: " << other.what();
  }
  return testing::AssertionFailure() << "nothing was thrown";
}

/// n normal values with the given mean and standard deviation, the same for the same seed.
std::vector<float> normal_values(std::size_t n, std::uint64_t seed, double mean = 0, double deviation = 1);
Tensor normal_tensor(const Shape& shape, std::uint64_t seed, DType dtype = DType::f32);
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
inline std::vector<double> widened(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace addnorm::test
