// Activation functions over flat arrays, forward and backward, and the gated SwiGLU.
//
// Precision: within 4 ulp of the exact value, sign and tails included: gelu(-10) has its digits, where the usual
// x/2 * (1 + erf(x / sqrt 2)) gives 0. Exceptions: gelu_tanh for x << 0 loses (1 + |u|) / 2^24 of itself, u being the
// argument of the tanh; derivatives keep 4 ulp of max(1, |slope|) near their zeros.
// Results below 1e-36 may become 0. gelu, gelu_tanh, silu of -infinity: 0. NaN stays NaN.
// Element by element: same bits wherever an element stands, for any split and any number of threads.
#pragma once

#include <cstddef>

#include "kernels/reference/activations.h"

namespace addnorm::kernels {

/// y = f(x); y may be x.
void activate(ActivationKind kind, const float* x, std::size_t n, float* y);
/// y = f(x) and slope = f'(x), with the bits that activate and activate_grad have: most of their work is the same.
void activate_with_slope(ActivationKind kind, const float* x, std::size_t n, float* y, float* slope);
/// dx = dy * f'(x), from the saved input; dx may be dy or x.
void activate_grad(ActivationKind kind, const float* dy, const float* x, std::size_t n, float* dx);

/// y[r, c] = silu(a[r, c]) * b[r, c], y dense [rows, width]; rows of a and b start `stride` apart: width for two arrays,
/// 2 * width with b = a + width for one packed array.
void swiglu(const float* a, const float* b, std::size_t stride, std::size_t rows, std::size_t width, float* y);
/// da = dy * b * silu'(a), db = dy * silu(a), both with rows `stride` apart; da may be a, db may be b. Either may be null, not
/// wanted: the other has the same bits.
void swiglu_grad(const float* dy, const float* a, const float* b, std::size_t stride, std::size_t rows, std::size_t width,
                 float* da, float* db);

inline void activate(ActivationKind kind, const double* x, std::size_t n, double* y) { reference::activate(kind, x, n, y); }
inline void activate_with_slope(ActivationKind kind, const double* x, std::size_t n, double* y, double* slope) {
  reference::activate_with_slope(kind, x, n, y, slope);
}
inline void activate_grad(ActivationKind kind, const double* dy, const double* x, std::size_t n, double* dx) {
  reference::activate_grad(kind, dy, x, n, dx);
}
inline void swiglu(const double* a, const double* b, std::size_t stride, std::size_t rows, std::size_t width, double* y) {
  reference::swiglu(a, b, stride, rows, width, y);
}
inline void swiglu_grad(const double* dy, const double* a, const double* b, std::size_t stride, std::size_t rows,
                        std::size_t width, double* da, double* db) {
  reference::swiglu_grad(dy, a, b, stride, rows, width, da, db);
}

}  // namespace addnorm::kernels
