#include "tensor/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "addnorm/core/error.h"

namespace addnorm {

std::vector<double> values_of(const Tensor& t) {
  const Tensor in_double = t.to(DType::f64);
  const auto values = in_double.values<double>();
  return {values.begin(), values.end()};
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(values.size());
}

double dot(std::span<const double> a, std::span<const double> b) {
  require(a.size() == b.size() || b.empty(), "dot: lists of ", a.size(), " and ", b.size(), " numbers");
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double dot(std::span<const double> a, const Tensor& b) {
  double sum = 0;
  dispatch(b.dtype(), [&](auto zero) {
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * static_cast<double>(b.data<decltype(zero)>()[i]);
  });
  return sum;
}

double dot(const Tensor& a, const Tensor& b) { return dot(values_of(a), b); }

double length(const Tensor& t) { return std::sqrt(dot(t, t)); }
double rms(const Tensor& t) { return length(t) / std::sqrt(static_cast<double>(t.elements())); }

double mean_value(const Tensor& t) {
  double sum = 0;
  for (const double v : values_of(t)) sum += v;
  return sum / static_cast<double>(t.elements());
}

double variance(const Tensor& t) {
  const double mean = mean_value(t);
  double sum = 0;
  for (const double v : values_of(t)) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(t.elements());
}

double cosine(const Tensor& a, const Tensor& b) { return dot(a, b) / (length(a) * length(b)); }

double relative_distance(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = values_of(a), y = values_of(b);
  double off = 0, all = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    off += (x[i] - y[i]) * (x[i] - y[i]);
    all += y[i] * y[i];
  }
  return std::sqrt(off / all);
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = values_of(a), y = values_of(b);
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i] - y[i])) return x[i] - y[i];
    most = std::max(most, std::abs(x[i] - y[i]));
  }
  return most;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && dispatch(a.dtype(), [&](auto zero) {
           using T = decltype(zero);
           return std::memcmp(a.data<T>(), b.data<T>(), a.elements() * sizeof(T)) == 0;
         });
}

}  // namespace addnorm
