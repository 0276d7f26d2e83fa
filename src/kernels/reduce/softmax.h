// Softmax and log-softmax over the rows of a matrix, forward and backward.
//
//   softmax      y = e^(x - max) / sum e^(x - max)              dx = y (dy - sum(dy y))
//   log_softmax  y = x - max - log(sum e^(x - max))             dx = dy - e^y sum(dy)
//
// Logits of any finite size and -infinity are fine; a term e^(x - max) below 1.2e-38 counts as 0. A row of nothing but
// -infinity, or with a NaN or +infinity, has no softmax: all of it becomes NaN, and no other row changes.
// Sums run in float over 512 elements and in double beyond. Row by row: the same bits for any split and thread count.
// x, y, dy, dx are dense [rows, width]; outputs may be one of the inputs.
#pragma once

#include <cstddef>

#include "kernels/reference/softmax.h"

namespace addnorm::kernels {

void softmax(const float* x, std::size_t rows, std::size_t width, float* y);
void softmax_grad(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx);
void log_softmax(const float* x, std::size_t rows, std::size_t width, float* y);
void log_softmax_grad(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx);

inline void softmax(const double* x, std::size_t rows, std::size_t width, double* y) { reference::softmax(x, rows, width, y); }
inline void softmax_grad(const double* dy, const double* y, std::size_t rows, std::size_t width, double* dx) {
  reference::softmax_grad(dy, y, rows, width, dx);
}
inline void log_softmax(const double* x, std::size_t rows, std::size_t width, double* y) {
  reference::log_softmax(x, rows, width, y);
}
inline void log_softmax_grad(const double* dy, const double* y, std::size_t rows, std::size_t width, double* dx) {
  reference::log_softmax_grad(dy, y, rows, width, dx);
}

}  // namespace addnorm::kernels
