// Specification of batch normalisation: statistics per column, over the rows that are not padding.
#pragma once

#include <cstddef>

namespace addnorm::kernels::reference {

inline bool is_padding(const unsigned char* padding, std::size_t r) { return padding != nullptr && padding[r] != 0; }

/// Two passes. The result is the number of rows counted; mean and var are 0 when there are none.
template <class T>
std::size_t batch_statistics(const T* x, const unsigned char* padding, std::size_t rows, std::size_t width, double* mean,
                             double* var) {
  std::size_t count = 0;
  for (std::size_t r = 0; r < rows; ++r)
    if (!is_padding(padding, r)) ++count;
  for (std::size_t j = 0; j < width; ++j) {
    mean[j] = var[j] = 0;
    if (count == 0) continue;
    for (std::size_t r = 0; r < rows; ++r)
      if (!is_padding(padding, r)) mean[j] += static_cast<double>(x[r * width + j]);
    mean[j] /= static_cast<double>(count);
    for (std::size_t r = 0; r < rows; ++r) {
      if (is_padding(padding, r)) continue;
      const double centred = static_cast<double>(x[r * width + j]) - mean[j];
      var[j] += centred * centred;
    }
    var[j] /= static_cast<double>(count);
  }
  return count;
}

template <class T>
void batch_norm(const T* x, const double* mean, const double* scale, const T* beta, std::size_t rows, std::size_t width, T* y) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < width; ++j) {
      const double shift = beta == nullptr ? 0.0 : static_cast<double>(beta[j]);
      y[r * width + j] = static_cast<T>((static_cast<double>(x[r * width + j]) - mean[j]) * scale[j] + shift);
    }
}

/// sum_dy and sum_dy_xhat, over all rows: a padding row is normalised with the statistics of the others.
template <class T>
void batch_norm_sums(const T* dy, const T* x, const double* mean, const double* rstd, std::size_t rows, std::size_t width,
                     double* sum_dy, double* sum_dy_xhat) {
  for (std::size_t j = 0; j < width; ++j) {
    sum_dy[j] = sum_dy_xhat[j] = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const double up = static_cast<double>(dy[r * width + j]);
      sum_dy[j] += up;
      sum_dy_xhat[j] += up * (static_cast<double>(x[r * width + j]) - mean[j]) * rstd[j];
    }
  }
}

/// dx = scale * (dy - offset - (x - mean) * slope); padding rows have no part in the statistics: dx = scale * dy.
template <class T>
void batch_norm_dx(const T* dy, const T* x, const unsigned char* padding, const double* mean, const double* scale,
                   const double* offset, const double* slope, std::size_t rows, std::size_t width, T* dx) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < width; ++j) {
      const std::size_t i = r * width + j;
      const double through = is_padding(padding, r) ? 0.0 : offset[j] + (static_cast<double>(x[i]) - mean[j]) * slope[j];
      dx[i] = static_cast<T>((static_cast<double>(dy[i]) - through) * scale[j]);
    }
}

}  // namespace addnorm::kernels::reference
