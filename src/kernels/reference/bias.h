// Specification of the bias kernel.
#pragma once

#include <cstddef>

namespace addnorm::kernels::reference {

template <class T>
void add_bias(const T* x, const T* bias, std::size_t rows, std::size_t width, T* y) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < width; ++c) y[r * width + c] = x[r * width + c] + bias[c];
}

}  // namespace addnorm::kernels::reference
