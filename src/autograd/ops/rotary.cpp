#include "kernels/attention/attention.h"

#include <cmath>
#include <vector>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"

namespace addnorm {
namespace {

void check(const Var& x, const RotaryTables& tables, std::span<const std::int32_t> positions) {
  detail::require_defined("rotary", "x", x);
  require(x.shape().rank() >= 2, "rotary: x is ", x.shape(), "; [..., heads, d_head] is needed");
  require(tables.cos.defined() && tables.sin.defined(), "rotary: the tables are undefined; make them with rotary_tables");
  require(tables.cos.shape().rank() == 2 && tables.cos.shape() == tables.sin.shape(), "rotary: cos is ", tables.cos.shape(),
          ", sin is ", tables.sin.shape(), "; both are [positions, d_rotary / 2]");
  require(tables.cos.dtype() == x.dtype() && tables.sin.dtype() == x.dtype(), "rotary: x is ", x.dtype(), ", the tables are ",
          tables.cos.dtype(), " and ", tables.sin.dtype(), "; rotary_tables takes the dtype");
  require(2 * tables.cos.shape()[1] <= x.shape().back(), "rotary: the tables turn ", 2 * tables.cos.shape()[1],
          " elements of each head, x is ", x.shape());
  const std::size_t heads = x.shape()[x.shape().rank() - 2];
  require(positions.size() * heads == as_rows(x.shape()).rows, "rotary: ", positions.size(), " positions for x ", x.shape(),
          "; one for all heads of each row is needed");
  for (std::size_t r = 0; r < positions.size(); ++r)
    require(positions[r] >= 0 && static_cast<std::size_t>(positions[r]) < tables.cos.shape()[0], "rotary: position ", r, " is ",
            positions[r], "; the tables hold ", tables.cos.shape()[0], " positions");
}

Tensor turned(const Tensor& x, const RotaryTables& tables, const std::vector<std::int32_t>& positions, RotaryPairs pairs,
              bool inverse) {
  const std::size_t heads = x.shape()[x.shape().rank() - 2], d_head = x.shape().back();
  Tensor y(x.shape(), x.dtype());
  dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::rotary(kernels::RotaryArgs<T>{.rows = positions.size(),
                                           .heads = heads,
                                           .d_head = d_head,
                                           .d_rotary = 2 * tables.cos.shape()[1],
                                           .x = x.data<T>(),
                                           .x_stride = heads * d_head,
                                           .cos = tables.cos.data<T>(),
                                           .sin = tables.sin.data<T>(),
                                           .positions = positions.data(),
                                           .adjacent = pairs == RotaryPairs::adjacent,
                                           .inverse = inverse,
                                           .y = y.data<T>(),
                                           .y_stride = heads * d_head});
  });
  return y;
}

}  // namespace

RotaryTables rotary_tables(std::size_t positions, std::size_t d_rotary, double base, DType dtype) {
  require(d_rotary % 2 == 0, "rotary_tables: d_rotary is ", d_rotary, "; elements turn in pairs, so it must be even");
  require(base > 0 && std::isfinite(base), "rotary_tables: base is ", base, "; a positive number is needed");
  RotaryTables tables{Tensor({positions, d_rotary / 2}, dtype), Tensor({positions, d_rotary / 2}, dtype)};
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    kernels::rotary_tables(positions, d_rotary, base, tables.cos.data<T>(), tables.sin.data<T>());
  });
  return tables;
}

Var rotary(const Var& x, const RotaryTables& tables, std::span<const std::int32_t> positions, RotaryPairs pairs) {
  check(x, tables, positions);
  require_one_of("rotary", "pairs", pairs, "RotaryPairs", {"adjacent", "halves"});

  std::vector<std::int32_t> kept(positions.begin(), positions.end());
  Tensor y = turned(x.value(), tables, kept, pairs, false);

  return record("rotary", {x}, std::move(y), [tables, kept = std::move(kept), pairs](const Tensor& dy, Grads& grads) {
    grads.give(0, turned(dy, tables, kept, pairs, true));
  });
}

}  // namespace addnorm
