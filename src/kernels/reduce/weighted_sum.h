// A weighted sum of several arrays in one pass over memory: how DLCL and DenseFormer mix the outputs of earlier layers.
//
//   y = sum over k of w[k] * xs[k]          xs: `count` arrays of n elements
//
// Products and sums are rounded to float32, in the order of k: the same bits as the reference on every target and for any
// number of threads. Each array is read once and y written once; y must not be one of them unless count is 1.
#pragma once

#include <cstddef>

#include "kernels/reference/weighted_sum.h"

namespace addnorm::kernels {

void weighted_sum(const float* const* xs, const float* w, std::size_t count, std::size_t n, float* y);

/// How many doubles of scratch weighted_sum_grad needs: a partial sum per block of elements and array.
std::size_t weighted_sum_grad_scratch(std::size_t count, std::size_t n);

/// dxs[k] = w[k] * dy, where dxs[k] is not null; dw[k] = sum of dy * xs[k], in double, null when not wanted. One pass: dy and
/// every xs[k] are read once.
void weighted_sum_grad(const float* dy, const float* const* xs, const float* w, std::size_t count, std::size_t n, double* scratch,
                       float* const* dxs, double* dw);

inline void weighted_sum(const double* const* xs, const double* w, std::size_t count, std::size_t n, double* y) {
  reference::weighted_sum(xs, w, count, n, y);
}
inline void weighted_sum_grad(const double* dy, const double* const* xs, const double* w, std::size_t count, std::size_t n,
                              double*, double* const* dxs, double* dw) {
  reference::weighted_sum_grad(dy, xs, w, count, n, dxs, dw);
}

}  // namespace addnorm::kernels
