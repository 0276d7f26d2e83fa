// Products with a weight that was packed once, for models that only compute: C = f(A W^T + bias).
//
//   pack_weight(w, out, in, packed);                                                               // W [out, in], once
//   gemm_packed({.m = rows, .n = out, .k = in, .a = x, .packed = packed, .bias = b, .c = y});      // y = x W^T + b, often
//
// Packed, W is a row of panels of c = panel_columns() columns of W^T: element (j, p) of W lies at [j / c][p][j % c], and
// columns after the last are 0. So a product reads W from front to back, whatever the number of rows. c depends on the
// instruction set, so packed weights live in memory only, never in a file.
//
// Bits. An element is the sum, from front to back, of chunks of k, equal ones of at most 384 terms; each is summed by one
// multiply-add after the other (fused where the machine has it). Then + bias, then f. So a row of C depends on its row of A
// alone: not on m, not on which rows stand beside it, not on the threads. Cost. Nothing is copied, no scratch. While rows meet a
// panel the next one is fetched, evenly. On AVX2, 96 rows, 42 MB of weights in turn, one thread: 98 % of
// the FMA peak in quiet seconds, 88 % in the median where neighbours share the core (bench/README.md, 8). Values. As gemm.h says:
// NaN and infinity reach the whole row or column, C may hold anything.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/elementwise/activations.h"

namespace addnorm::kernels {

/// Columns of a panel on this machine: 24 with AVX2, 32 with AVX-512, else 16.
std::size_t panel_columns();

/// Floats of W [n, k] when packed: as many as before when panel_columns() divides n.
inline std::size_t packed_elements(std::size_t n, std::size_t k) {
  return (n + panel_columns() - 1) / panel_columns() * panel_columns() * k;
}
/// W [n, k], without padding between its rows -> packed, apart from W. Panel after panel, each from its own rows.
void pack_weight(const float* w, std::size_t n, std::size_t k, float* packed);

struct PackedGemm {
  std::size_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  ///< [m, k]
  std::size_t lda = 0;       ///< 0: k
  const float* packed = nullptr;
  const float* bias = nullptr;  ///< [n]; null: none
  std::optional<ActivationKind> activation{};
  float* c = nullptr;   ///< [m, n], apart from everything else
  std::size_t ldc = 0;  ///< 0: n
};
void gemm_packed(const PackedGemm& args);

}  // namespace addnorm::kernels
