// Batch normalisation: every feature (column) of x [rows, width] normalised over the rows of the batch.
//
//   y = (x - mean) * scale + beta,   scale = gamma / sqrt(var + eps)
//
// Padding. padding[r] != 0 marks a row that does not count: it takes no part in the statistics, and is itself normalised
// with the statistics of the others. A null pointer means no padding. All arithmetic is in double and rounded once.
// Sums over rows run in blocks of 64 rows that are then combined in block order: the same bits for any number of threads.
#pragma once

#include <cstddef>

#include "kernels/reference/batch_norm.h"

namespace addnorm::kernels {

/// How many doubles of scratch batch_statistics and batch_norm_sums need: two sums per block of rows and column.
std::size_t batch_norm_scratch(std::size_t rows, std::size_t width);

/// Mean and biased variance (divided by the number of rows counted) of every column; the result is that number. Both are 0
/// when no row counts. One pass over x: deviations are taken from the first row that counts, which is within sqrt(count)
/// standard deviations of the mean, so that E[d^2] - E[d]^2 loses at most log2(count) of the 53 bits however large the
/// mean is; a column of equal values has variance 0 and its exact value as mean.
std::size_t batch_statistics(const float* x, const unsigned char* padding, std::size_t rows, std::size_t width, double* scratch,
                             double* mean, double* var);

/// beta null: 0. y may be x.
void batch_norm(const float* x, const double* mean, const double* scale, const float* beta, std::size_t rows, std::size_t width,
                float* y);

/// sum_dy = sum of dy (dbeta) and sum_dy_xhat = sum of dy * (x - mean) * rstd (dgamma), per column, over all rows.
void batch_norm_sums(const float* dy, const float* x, const double* mean, const double* rstd, std::size_t rows, std::size_t width,
                     double* scratch, double* sum_dy, double* sum_dy_xhat);

/// dx = scale * (dy - offset - (x - mean) * slope), in padding rows scale * dy. With batch statistics over n rows
/// offset = sum_dy / n and slope = sum_dy_xhat * rstd / n; with fixed statistics both are 0. dx may be dy.
void batch_norm_dx(const float* dy, const float* x, const unsigned char* padding, const double* mean, const double* scale,
                   const double* offset, const double* slope, std::size_t rows, std::size_t width, float* dx);

inline std::size_t batch_statistics(const double* x, const unsigned char* padding, std::size_t rows, std::size_t width, double*,
                                    double* mean, double* var) {
  return reference::batch_statistics(x, padding, rows, width, mean, var);
}
inline void batch_norm(const double* x, const double* mean, const double* scale, const double* beta, std::size_t rows,
                       std::size_t width, double* y) {
  reference::batch_norm(x, mean, scale, beta, rows, width, y);
}
inline void batch_norm_sums(const double* dy, const double* x, const double* mean, const double* rstd, std::size_t rows,
                            std::size_t width, double*, double* sum_dy, double* sum_dy_xhat) {
  reference::batch_norm_sums(dy, x, mean, rstd, rows, width, sum_dy, sum_dy_xhat);
}
inline void batch_norm_dx(const double* dy, const double* x, const unsigned char* padding, const double* mean,
                          const double* scale, const double* offset, const double* slope, std::size_t rows, std::size_t width,
                          double* dx) {
  reference::batch_norm_dx(dy, x, padding, mean, scale, offset, slope, rows, width, dx);
}

}  // namespace addnorm::kernels
