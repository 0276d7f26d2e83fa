// Rows of a table picked by id, and the gradient of the table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/reference/elementwise.h"

namespace addnorm::kernels {

/// y[i, :] = table[ids[i], :], i < count; every id lies in [0, vocabulary) (not checked here).
void embedding(const float* table, const std::int32_t* ids, std::size_t count, std::size_t width, float* y);

/// dtable [vocabulary, width] = sum of the rows of dy by id; ids that do not occur get 0. Written, not added to.
/// Equals the reference bit for bit, whatever repeats and for any number of threads: tasks own disjoint columns, and each
/// walks through the positions in order. A row that is hit n times carries the error of n float additions.
void embedding_grad(const float* dy, const std::int32_t* ids, std::size_t count, std::size_t width, std::size_t vocabulary,
                    float* dtable);

inline void embedding(const double* table, const std::int32_t* ids, std::size_t count, std::size_t width, double* y) {
  reference::embedding(table, ids, count, width, y);
}
inline void embedding_grad(const double* dy, const std::int32_t* ids, std::size_t count, std::size_t width,
                           std::size_t vocabulary, double* dtable) {
  reference::embedding_grad(dy, ids, count, width, vocabulary, dtable);
}

}  // namespace addnorm::kernels
