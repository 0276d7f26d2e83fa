// Branches with random weights, for what holds of arrangements at initialisation.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "addnorm/autograd/ops.h"
#include "addnorm/residual/stack.h"
#include "support/near.h"

namespace addnorm::test {

/// F_i(u) = W_i u with W_i ~ N(0, gain^2 / width): variance gain^2 for unit variance, and nothing in common with u on average.
class LinearBranches {
 public:
  explicit LinearBranches(const StackShape& shape, DType dtype = DType::f32, double gain = 1, std::uint64_t seed = 300) {
    const double deviation = gain / std::sqrt(static_cast<double>(shape.width));
    for (std::size_t i = 0; i < shape.units(); ++i) {
      const std::vector<float> values = normal_values(shape.width * shape.width, seed + i, 0, deviation);
      weights.emplace_back(Tensor::of({shape.width, shape.width}, values).to(dtype), true);
    }
  }
  Var operator()(const Unit& unit, const Var& u) const { return linear(u, weights[unit.index]); }
  std::vector<Var> weights;
};

/// Over all elements, in double.
inline double mean_of(const Tensor& t, const std::function<double(double)>& f) {
  const Tensor values = t.to(DType::f64);
  double sum = 0;
  for (const double v : values.values<double>()) sum += f(v);
  return sum / static_cast<double>(values.elements());
}
inline double mean_square(const Tensor& t) {
  return mean_of(t, [](double v) { return v * v; });
}
inline double variance(const Tensor& t) {
  const double mean = mean_of(t, [](double v) { return v; });
  return mean_of(t, [&](double v) { return (v - mean) * (v - mean); });
}
inline double dot(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(DType::f64), y = b.to(DType::f64);
  double sum = 0;
  for (std::size_t i = 0; i < x.elements(); ++i) sum += x.values<double>()[i] * y.values<double>()[i];
  return sum;
}
inline double length(const Tensor& t) { return std::sqrt(dot(t, t)); }
inline double cosine(const Tensor& a, const Tensor& b) { return dot(a, b) / (length(a) * length(b)); }

inline testing::AssertionResult within(double got, double want, Tolerance tolerance) {
  return near_all(std::span<const double>(&got, 1), std::span<const double>(&want, 1), tolerance);
}

}  // namespace addnorm::test
