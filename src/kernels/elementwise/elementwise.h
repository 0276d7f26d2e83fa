// Element-wise arithmetic over flat arrays. Outputs may be one of the inputs.
#pragma once

#include <cstddef>

#include "kernels/reference/elementwise.h"

namespace addnorm::kernels {

void add(const float* a, const float* b, std::size_t n, float* y);       ///< y = a + b
void subtract(const float* a, const float* b, std::size_t n, float* y);  ///< y = a - b
void multiply(const float* a, const float* b, std::size_t n, float* y);  ///< y = a * b
void scale(const float* x, float factor, std::size_t n, float* y);       ///< y = factor * x

inline void add(const double* a, const double* b, std::size_t n, double* y) { reference::add(a, b, n, y); }
inline void subtract(const double* a, const double* b, std::size_t n, double* y) { reference::subtract(a, b, n, y); }
inline void multiply(const double* a, const double* b, std::size_t n, double* y) { reference::multiply(a, b, n, y); }
inline void scale(const double* x, double factor, std::size_t n, double* y) { reference::scale(x, factor, n, y); }

}  // namespace addnorm::kernels
