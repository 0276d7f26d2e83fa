// Dynamic Tanh (Zhu et al. 2025), element by element:  y = gain * tanh(alpha * x) + beta.
//
// x [rows, width], gain and beta [width]. Within 4 ulp of max(|gain|, |beta|). Sums over rows are float within blocks of 64
// rows and double across them: the same bits for any number of threads. Backward computes the tanh again from x.
#pragma once

#include <cstddef>

#include "kernels/reduce/reduce.h"
#include "kernels/reference/norms.h"

namespace addnorm::kernels {

/// y may be x.
void dyt(const float* x, const float* gain, const float* beta, float alpha, std::size_t rows, std::size_t width, float* y);

/// How many floats of scratch dyt_grad needs.
constexpr std::size_t dyt_grad_scratch(std::size_t rows, std::size_t width) { return column_sums_scratch(rows, 3 * width); }

/// dx may be dy. sums [3, width]: dgain, dbeta, and what each column adds to dalpha. dx or sums may be null, not wanted: the
/// other has the same bits; without sums scratch may be null too.
void dyt_grad(const float* dy, const float* x, const float* gain, float alpha, std::size_t rows, std::size_t width,
              float* scratch, float* dx, float* sums);

inline void dyt(const double* x, const double* gain, const double* beta, double alpha, std::size_t rows, std::size_t width,
                double* y) {
  reference::dyt(x, gain, beta, alpha, rows, width, y);
}
inline void dyt_grad(const double* dy, const double* x, const double* gain, double alpha, std::size_t rows, std::size_t width,
                     double*, double* dx, double* sums) {
  reference::dyt_grad(dy, x, gain, alpha, rows, width, dx, sums);
}

}  // namespace addnorm::kernels
