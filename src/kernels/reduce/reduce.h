// Sums over whole arrays, products of every row with one row, and the column sums that are their gradient.
// Sums are accumulated in double over fixed blocks, combined in block order: the same bits for any number of threads.
#pragma once

#include <cstddef>

#include "kernels/reference/reduce.h"

namespace addnorm::kernels {

/// How many doubles of scratch sum, dot and sum_of_squares need.
std::size_t reduce_scratch(std::size_t n);
double sum(const float* x, std::size_t n, double* scratch);
double dot(const float* a, const float* b, std::size_t n, double* scratch);
/// Overflows for no finite floats. The gradient norm is the root of the sum of these over the parameters, in a fixed order.
inline double sum_of_squares(const float* x, std::size_t n, double* scratch) { return dot(x, x, n, scratch); }

/// y[r, j] = x[r, j] * v[j]; y may be x.
void multiply_rows(const float* x, const float* v, std::size_t rows, std::size_t width, float* y);

/// How many doubles of scratch column_dots needs.
std::size_t column_dots_scratch(std::size_t rows, std::size_t width);
/// dots[j] = sum over r of a[r, j] * b[r, j]: the gradient of v above.
void column_dots(const float* a, const float* b, std::size_t rows, std::size_t width, double* scratch, double* dots);

inline double sum(const double* x, std::size_t n, double*) { return reference::sum(x, n); }
inline double dot(const double* a, const double* b, std::size_t n, double*) { return reference::dot(a, b, n); }
inline double sum_of_squares(const double* x, std::size_t n, double*) { return reference::dot(x, x, n); }
inline void multiply_rows(const double* x, const double* v, std::size_t rows, std::size_t width, double* y) {
  reference::multiply_rows(x, v, rows, width, y);
}
inline void column_dots(const double* a, const double* b, std::size_t rows, std::size_t width, double*, double* dots) {
  reference::column_dots(a, b, rows, width, dots);
}

}  // namespace addnorm::kernels
