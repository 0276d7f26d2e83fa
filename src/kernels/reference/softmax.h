// Specification of softmax and log-softmax over rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace addnorm::kernels::reference {

/// The largest element, and log(sum of e^(x - max)): together the log-sum-exp, without overflow.
template <class T>
struct LogSum {
  T max;
  T log_sum;
};

template <class T>
LogSum<T> log_sum(const T* x, std::size_t width) {
  T max = -std::numeric_limits<T>::infinity();
  for (std::size_t c = 0; c < width; ++c) max = x[c] > max ? x[c] : max;
  double sum = 0;
  for (std::size_t c = 0; c < width; ++c) sum += static_cast<double>(std::exp(x[c] - max));
  return {max, static_cast<T>(std::log(sum))};
}

template <class T>
void softmax(const T* x, std::size_t rows, std::size_t width, T* y) {
  for (std::size_t r = 0; r < rows; ++r) {
    const LogSum<T> row = log_sum(x + r * width, width);
    for (std::size_t c = 0; c < width; ++c) y[r * width + c] = std::exp(x[r * width + c] - row.max - row.log_sum);
  }
}

template <class T>
void log_softmax(const T* x, std::size_t rows, std::size_t width, T* y) {
  for (std::size_t r = 0; r < rows; ++r) {
    const LogSum<T> row = log_sum(x + r * width, width);
    for (std::size_t c = 0; c < width; ++c) y[r * width + c] = x[r * width + c] - row.max - row.log_sum;
  }
}

/// dx = y * (dy - sum(dy * y)), y = softmax(x).
template <class T>
void softmax_grad(const T* dy, const T* y, std::size_t rows, std::size_t width, T* dx) {
  for (std::size_t r = 0; r < rows; ++r) {
    double mean = 0;
    for (std::size_t i = r * width; i < (r + 1) * width; ++i) mean += static_cast<double>(dy[i]) * static_cast<double>(y[i]);
    for (std::size_t i = r * width; i < (r + 1) * width; ++i) dx[i] = y[i] * (dy[i] - static_cast<T>(mean));
  }
}

/// dx = dy - e^y * sum(dy), y = log_softmax(x).
template <class T>
void log_softmax_grad(const T* dy, const T* y, std::size_t rows, std::size_t width, T* dx) {
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::size_t i = r * width; i < (r + 1) * width; ++i) sum += static_cast<double>(dy[i]);
    for (std::size_t i = r * width; i < (r + 1) * width; ++i) dx[i] = dy[i] - std::exp(y[i]) * static_cast<T>(sum);
  }
}

}  // namespace addnorm::kernels::reference
