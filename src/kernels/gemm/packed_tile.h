// What a tile of a packed product multiplies; the same for every instruction set.
#pragma once

#include <cstddef>

namespace addnorm::kernels {

inline constexpr std::size_t kMostColumnsOfPanel = 32;

/// c [rows, columns] = (c if add) + a [rows, depth] panel [depth, columns], columns being those of a panel. While it works it
/// asks for lines of the panel that comes next, `at_once` of them every sixteen steps.
struct PackedTile {
  const float* a;
  std::size_t lda;
  const float* panel;
  std::size_t depth;
  bool add;
  float* c;
  std::size_t ldc;
  const float* next;
  std::size_t at_once = 0;
};

}  // namespace addnorm::kernels
