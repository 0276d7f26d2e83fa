// The gradient of a bias that was added to every row. Internal to autograd.
#pragma once

#include "addnorm/tensor/tensor.h"
#include "kernels/reduce/column_sums.h"

namespace addnorm::detail {

/// dbias [width] = sum of dy [..., width] over rows.
inline Tensor bias_gradient(const Tensor& dy) {
  const auto [rows, width] = as_rows(dy.shape());
  Tensor dbias({width}, dy.dtype()), scratch({kernels::column_sums_scratch(rows, width)}, dy.dtype());
  dispatch(dy.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::column_sums(dy.data<T>(), rows, width, width, scratch.data<T>(), dbias.data<T>());
  });
  return dbias;
}

}  // namespace addnorm::detail
