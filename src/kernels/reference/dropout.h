// Specification of dropout by counter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "addnorm/core/rng.h"

namespace addnorm::kernels::reference {

/// Element (r, c) is 0 when random_word(key, first_row + r, c) lies below the threshold of p, else x / (1 - p).
template <class T>
void dropout(const T* x, std::size_t rows, std::size_t width, float p, std::uint64_t key, std::uint64_t first_row, T* y) {
  const T scale = static_cast<T>(keep_scale(p));
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < width; ++c) {
      const bool keep = random_word(key, first_row + r, static_cast<std::uint32_t>(c)) >= drop_threshold(p);
      y[r * width + c] = keep ? x[r * width + c] * scale : T{0};
    }
  }
}

}  // namespace addnorm::kernels::reference
