#include "kernels/elementwise/dropout.h"

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"

namespace addnorm {
namespace {

Tensor dropped(const Tensor& x, float p, std::uint64_t key, std::uint64_t first_row) {
  const auto [rows, width] = as_rows(x.shape());
  Tensor y(x.shape(), x.dtype());
  dispatch(x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    kernels::dropout(x.data<T>(), rows, width, p, key, first_row, y.data<T>());
  });
  return y;
}

}  // namespace

Var dropout(const Var& x, float p, RandomKey key, std::uint64_t first_row) {
  detail::require_defined("dropout", "x", x);
  require(p >= 0 && p < 1, "dropout: p is ", p, "; 0 <= p < 1 is allowed");
  if (p == 0) return x;

  return record(
      "dropout", {x}, dropped(x.value(), p, key.bits(), first_row),
      [p, key = key.bits(), first_row](const Tensor& dy, Grads& grads) { grads.give(0, dropped(dy, p, key, first_row)); });
}

}  // namespace addnorm
