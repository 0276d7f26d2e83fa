// Specification of the embedding gather and its gradient.
#pragma once

#include <cstddef>
#include <cstdint>

namespace addnorm::kernels::reference {

template <class T>
void embedding(const T* table, const std::int32_t* ids, std::size_t count, std::size_t width, T* y) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < width; ++c) y[i * width + c] = table[static_cast<std::size_t>(ids[i]) * width + c];
}

/// dtable [vocabulary, width]: zero, then every row of dy added to the row of its id, first position first.
template <class T>
void embedding_grad(const T* dy, const std::int32_t* ids, std::size_t count, std::size_t width, std::size_t vocabulary,
                    T* dtable) {
  for (std::size_t i = 0; i < vocabulary * width; ++i) dtable[i] = 0;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < width; ++c) dtable[static_cast<std::size_t>(ids[i]) * width + c] += dy[i * width + c];
}

}  // namespace addnorm::kernels::reference
