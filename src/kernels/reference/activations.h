// Specification of the activation functions and their derivatives.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>

namespace addnorm::kernels {

/// gelu: x Phi(x), Phi the normal distribution function. gelu_tanh: its older form with a tanh of a cubic (GPT-2).
enum class ActivationKind : unsigned char { gelu, gelu_tanh, relu, silu, sigmoid, tanh };

namespace reference {

template <class T>
T sigmoid(T x) {
  const T z = std::exp(-std::abs(x));  // never overflows, and keeps the tail for x << 0
  return (x < 0 ? z : T{1}) / (1 + z);
}

/// x * weight with 0 where the weight has vanished: the limit at -infinity, where 0 * infinity would be NaN.
template <class T>
T weighted(T x, T weight) {
  return weight == 0 ? T{0} : x * weight;
}

template <class T>
T normal_cdf(T x) {
  return std::erfc(-x / std::numbers::sqrt2_v<T>) / 2;
}

/// gelu_tanh(x) = x * sigmoid(2 u(x)), which equals x/2 * (1 + tanh(u)) and keeps the tail.
template <class T>
T gelu_tanh_twice_u(T x) {
  const T root = std::sqrt(2 / std::numbers::pi_v<T>);
  return 2 * root * (x + static_cast<T>(0.044715) * x * x * x);
}

template <class T>
T activation(ActivationKind kind, T x) {
  switch (kind) {
    case ActivationKind::gelu:
      return weighted(x, normal_cdf(x));
    case ActivationKind::gelu_tanh:
      return weighted(x, sigmoid(gelu_tanh_twice_u(x)));
    case ActivationKind::relu:
      return x < 0 ? T{0} : x;
    case ActivationKind::silu:
      return weighted(x, sigmoid(x));
    case ActivationKind::sigmoid:
      return sigmoid(x);
    case ActivationKind::tanh:
      return std::tanh(x);
  }
  return x;
}

/// d activation / dx. relu: 0 at 0.
template <class T>
T activation_slope(ActivationKind kind, T x) {
  const T s = sigmoid(x);
  const T slope_of_s = s * sigmoid(-x);  // 1 - s without cancellation
  switch (kind) {
    case ActivationKind::gelu: {
      const T density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<T>);
      return normal_cdf(x) + weighted(x, density);
    }
    case ActivationKind::gelu_tanh: {
      const T v = gelu_tanh_twice_u(x);
      const T dv = 2 * std::sqrt(2 / std::numbers::pi_v<T>) * (1 + static_cast<T>(3 * 0.044715) * x * x);
      return sigmoid(v) + weighted(x * dv, sigmoid(v) * sigmoid(-v));
    }
    case ActivationKind::relu:
      return x <= 0 ? T{0} : T{1};
    case ActivationKind::silu:
      return s + weighted(x, slope_of_s);
    case ActivationKind::sigmoid:
      return slope_of_s;
    case ActivationKind::tanh:
      return 4 * sigmoid(2 * x) * sigmoid(-2 * x);
  }
  return x;
}

template <class T>
void activate(ActivationKind kind, const T* x, std::size_t n, T* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = activation(kind, x[i]);
}

template <class T>
void activate_with_slope(ActivationKind kind, const T* x, std::size_t n, T* y, T* slope) {
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = activation(kind, x[i]);
    slope[i] = activation_slope(kind, x[i]);
  }
}

template <class T>
void activate_grad(ActivationKind kind, const T* dy, const T* x, std::size_t n, T* dx) {
  for (std::size_t i = 0; i < n; ++i) dx[i] = dy[i] * activation_slope(kind, x[i]);
}

/// y[r, c] = silu(a[r, c]) * b[r, c]; rows of a and b start every `stride` elements.
template <class T>
void swiglu(const T* a, const T* b, std::size_t stride, std::size_t rows, std::size_t width, T* y) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < width; ++c)
      y[r * width + c] = activation(ActivationKind::silu, a[r * stride + c]) * b[r * stride + c];
}

/// da = dy * b * silu'(a), db = dy * silu(a), null where not wanted; dy is dense, the others have rows `stride` apart.
template <class T>
void swiglu_grad(const T* dy, const T* a, const T* b, std::size_t stride, std::size_t rows, std::size_t width, T* da, T* db) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t i = r * stride + c;
      const T g = dy[r * width + c], gate = a[i], value = b[i];
      if (da) da[i] = g * value * activation_slope(ActivationKind::silu, gate);
      if (db) db[i] = g * activation(ActivationKind::silu, gate);
    }
  }
}

}  // namespace reference
}  // namespace addnorm::kernels
