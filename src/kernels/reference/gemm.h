// Specification of the matrix products.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/reference/activations.h"

namespace addnorm::kernels {

/// What happens to the elements of C that are there already.
enum class Update : unsigned char {
  overwrite,   ///< C = AB; C is not read
  add,         ///< C = C + AB: the product is rounded, then one float addition per element. For sums that must split exactly
  accumulate,  ///< C = C + AB with the sum running on in C: saves a pass, rounds differently from `add`
};

/// One product, row-major. Row r of a matrix starts at r * its leading dimension; 0 stands for "no padding".
template <class T>
struct GemmArgs {
  std::size_t m = 0, n = 0, k = 0;
  const T* a = nullptr;  ///< [m, k], or [k, m] when transpose_a
  std::size_t lda = 0;
  bool transpose_a = false;
  const T* b = nullptr;  ///< [k, n], or [n, k] when transpose_b
  std::size_t ldb = 0;
  bool transpose_b = false;
  T alpha = 1;
  Update update = Update::overwrite;
  const T* bias = nullptr;                     ///< [n], added to every row of the updated C; null: none
  std::optional<ActivationKind> activation{};  ///< applied last: C = f(C + AB + bias)
  T* pre = nullptr;  ///< [m, n]: what the activation was applied to, which its gradient needs; null: not wanted
  std::size_t ldpre = 0;
  T* c = nullptr;  ///< [m, n]. No output may overlap an input or the other output
  std::size_t ldc = 0;
};

/// The same with every leading dimension written out.
template <class T>
GemmArgs<T> with_leading_dimensions(GemmArgs<T> args) {
  if (args.lda == 0) args.lda = args.transpose_a ? args.m : args.k;
  if (args.ldb == 0) args.ldb = args.transpose_b ? args.k : args.n;
  if (args.ldc == 0) args.ldc = args.n;
  if (args.ldpre == 0) args.ldpre = args.n;
  return args;
}

namespace reference {

template <class T>
T gemm_element(const GemmArgs<T>& g, std::size_t i, std::size_t j) {
  T sum = 0;
  for (std::size_t p = 0; p < g.k; ++p)
    sum += (g.transpose_a ? g.a[p * g.lda + i] : g.a[i * g.lda + p]) * (g.transpose_b ? g.b[j * g.ldb + p] : g.b[p * g.ldb + j]);
  return g.alpha * sum;
}

template <class T>
void gemm(const GemmArgs<T>& args) {
  const GemmArgs<T> g = with_leading_dimensions(args);
  for (std::size_t i = 0; i < g.m; ++i)
    for (std::size_t j = 0; j < g.n; ++j) {
      T& c = g.c[i * g.ldc + j];
      c = (g.update == Update::overwrite ? T{0} : c) + gemm_element(g, i, j);
      if (g.bias != nullptr) c += g.bias[j];
      if (g.pre != nullptr) g.pre[i * g.ldpre + j] = c;
      if (g.activation) c = activation(*g.activation, c);
    }
}

}  // namespace reference
}  // namespace addnorm::kernels
