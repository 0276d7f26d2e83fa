// Rows scaled to a given length: the L2 norm (g = 1) and ScaleNorm (g learned).
//
//   y = g * x / max(||x||, eps)      x [rows, width], one length per row
//
// The length and every product are computed in double and rounded once, so rows of 1e-40 and of 3e38 are as exact as
// others. A row of zeros gives zeros, with eps = 0 too. A NaN or infinity makes its row NaN and touches no other row. Rows
// are independent: the same bits for any number of threads and any split of the rows. Cost: 8 bytes of traffic per element
// forward, 12 backward.
#pragma once

#include <cstddef>

#include "kernels/reference/norms.h"

namespace addnorm::kernels {

/// y may be x. norm [rows] receives the length of each row as it is, without eps; null: not wanted.
void l2_norm(const float* x, std::size_t rows, std::size_t width, double g, double eps, float* y, double* norm);

/// The gradient, from the x and norm of forward. dx may be dy or x. row_dg [rows] receives each row's share of dg: add them
/// in row order. dx and row_dg: null when not wanted.
void l2_norm_grad(const float* dy, const float* x, const double* norm, std::size_t rows, std::size_t width, double g, double eps,
                  float* dx, double* row_dg);

inline void l2_norm(const double* x, std::size_t rows, std::size_t width, double g, double eps, double* y, double* norm) {
  reference::l2_norm(x, rows, width, g, eps, y, norm);
}
inline void l2_norm_grad(const double* dy, const double* x, const double* norm, std::size_t rows, std::size_t width, double g,
                         double eps, double* dx, double* row_dg) {
  reference::l2_norm_grad(dy, x, norm, rows, width, g, eps, dx, row_dg);
}

}  // namespace addnorm::kernels
