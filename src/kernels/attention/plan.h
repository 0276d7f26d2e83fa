// How attention is cut into tiles, what a tile may see, and when a few queries go without tiles: the part that is the same for
// every instruction set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>

#include "kernels/attention/args.h"

namespace addnorm::kernels::attention {

constexpr std::size_t kMaxPanel = 32;     // columns of the widest panel: two vectors of AVX-512
constexpr std::size_t kTileQueries = 64;  // a multiple of every panel
constexpr std::size_t kTileKeys = 96;     // a multiple of the 6 rows of the product kernel

constexpr std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

inline std::size_t key_count(const AttentionArgs& a, std::size_t b) {
  return a.key_lengths == nullptr ? key_rows(a, b) : std::min(key_rows(a, b), a.key_lengths[b]);
}

/// How many of the first `keys` keys query i of batch b sees, masks apart.
inline std::size_t keys_seen(const AttentionArgs& a, std::size_t b, std::size_t i, std::size_t keys) {
  if (!a.causal) return keys;
  const std::ptrdiff_t seen = static_cast<std::ptrdiff_t>(i) + clamped_offset(a, b) + 1;
  return seen <= 0 ? 0 : std::min(keys, static_cast<std::size_t>(seen));
}

inline bool has_mask(const AttentionArgs& a) {
  return a.mask.data != nullptr || a.key_mask.data != nullptr || a.bias.data != nullptr;
}

/// One column of a mask tile: what is added to the scores of query i for keys [j, j + rows), `step` floats apart.
/// False when it hides them all.
inline bool mask_column(const AttentionArgs& a, std::size_t b, std::size_t h, std::size_t i, std::size_t j, std::size_t rows,
                        float* column, std::size_t step) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  for (std::size_t r = 0; r < rows; ++r) column[r * step] = a.bias.data == nullptr ? 0.0f : a.bias.at(b, h, i)[j + r];
  for (const MaskView<std::uint8_t>* mask : {&a.mask, &a.key_mask}) {
    if (mask->data == nullptr) continue;
    const std::uint8_t* seen = mask->at(b, h, i) + j;
    for (std::size_t r = 0; r < rows; ++r) column[r * step] = seen[r] != 0 ? column[r * step] : kHidden;
  }
  bool any = false;
  for (std::size_t r = 0; r < rows; ++r) any |= column[r * step] != kHidden;
  return any;
}

/// The mask tile [rows, panel] of `queries` queries from i on and keys from j on. False when it hides everything: then
/// the tile need not be computed.
inline bool mask_tile(const AttentionArgs& a, std::size_t b, std::size_t h, std::size_t i, std::size_t queries, std::size_t j,
                      std::size_t rows, std::size_t panel, float* tile) {
  const bool same = a.mask.row == 0 && a.key_mask.row == 0 && a.bias.row == 0;  // one mask for all queries
  bool any = false;
  for (std::size_t c = 0; c < queries; ++c) {
    if (c == 0 || !same)
      any |= mask_column(a, b, h, i + c, j, rows, tile + c, panel);
    else
      for (std::size_t r = 0; r < rows; ++r) tile[r * panel + c] = tile[r * panel];
  }
  for (std::size_t r = 0; r < rows; ++r) std::fill(tile + r * panel + queries, tile + (r + 1) * panel, 0.0f);
  return any;
}

}  // namespace addnorm::kernels::attention

namespace addnorm::kernels {

// For a few queries and many keys: a path of attention_forward.

/// Up to this many queries are taken one by one: with more the tiles are as fast.
inline constexpr std::size_t kFewQueries = 3;

/// Whether sequence b is for this path. Masks apart from causal ones, and softcaps, are left to the tiles.
inline bool has_few_queries(const AttentionArgs& a, std::size_t b) {
  return query_count(a, b) <= kFewQueries && a.softcap == 0 && !attention::has_mask(a);
}
/// Of scratch, for each worker.
std::size_t few_queries_floats(const AttentionArgs& a);
/// All queries of sequence b in head h, on the calling thread.
void attention_few_queries(const AttentionArgs& a, std::size_t b, std::size_t h, float* scratch);

}  // namespace addnorm::kernels
