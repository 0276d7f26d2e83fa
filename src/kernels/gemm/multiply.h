// One block of a product on one thread. One source file for each library that does it; ADDNORM_GEMM chooses
// (cmake/platform.cmake).
#pragma once

#include <cstddef>

namespace addnorm::kernels {

/// One operand of a product: where it starts, its leading dimension, whether it is transposed.
struct Operand {
  const float* data;
  std::size_t ld;
  bool transposed;

  /// The part that starts at (row, column) of op(X).
  Operand at(std::size_t row, std::size_t column) const {
    return {data + (transposed ? column * ld + row : row * ld + column), ld, transposed};
  }
};

/// C = alpha * op(A) op(B) + (add ? C : 0), by `multiply` below or another; never fails.
using Multiply = void(const Operand& a, const Operand& b, std::size_t m, std::size_t n, std::size_t k, float alpha, bool add,
                      float* c, std::size_t ldc);

/// Holds a library with threads of its own to the calling thread, until the second gets what the first gave.
using HoldToOne = int();
using LetGo = void(int held);

namespace onednn {
Multiply multiply;
HoldToOne hold_to_one_thread;
LetGo let_go;
}  // namespace onednn

namespace own {
Multiply multiply;
inline int hold_to_one_thread() { return 0; }
inline void let_go(int) {}
}  // namespace own

}  // namespace addnorm::kernels
