// Matrix products, attention, positions, table look-ups and optimizers as the ONNX operators define them, by our code.
#pragma once

#include "addnorm/autograd/ops.h"
#include "kernels/gemm/gemm.h"
#include "kernels/optimizer/updates.h"
#include "onnx/case.h"
#include "onnx/layout.h"

namespace addnorm::test::onnx {

using Outputs = std::vector<Tensor>;

/// alpha A' B' + beta C; C is repeated over rows, a single number over columns too.
inline Outputs gemm(const Case& c) {
  const Tensor a = c.in(0).tensor(), b = c.in(1).tensor();
  const bool ta = c.integer("transA", 0) != 0, tb = c.integer("transB", 0) != 0;
  const std::size_t m = a.shape()[ta ? 1 : 0], k = a.shape()[ta ? 0 : 1], n = b.shape()[tb ? 0 : 1];
  std::vector<float> bias(n, 0.0f);
  if (c.has(2)) {
    const Tensor given = c.in(2).tensor();
    for (std::size_t j = 0; j < n; ++j)
      bias[j] = static_cast<float>(c.real("beta", 1)) * given.data<float>()[given.elements() == 1 ? 0 : j];
  }
  Tensor y({m, n});
  kernels::gemm({.m = m,
                 .n = n,
                 .k = k,
                 .a = a.data<float>(),
                 .transpose_a = ta,
                 .b = b.data<float>(),
                 .transpose_b = tb,
                 .alpha = static_cast<float>(c.real("alpha", 1)),
                 .bias = bias.data(),
                 .c = y.data<float>()});
  return {y};
}

/// NumPy's rule: a vector is a row on the left, a column on the right; leading axes are a batch.
inline Outputs matmul_by_batch(const Case& c) {
  const Tensor a = c.in(0).tensor(), b = c.in(1).tensor();
  const bool row = a.shape().rank() == 1, column = b.shape().rank() == 1;
  const std::size_t k = a.shape().back(), n = column ? 1 : b.shape().back();
  const std::size_t m = row ? 1 : a.shape()[a.shape().rank() - 2];
  const std::size_t batch_a = a.elements() / (m * k), batch_b = b.elements() / (k * n), batch = std::max(batch_a, batch_b);
  Tensor y(c.outputs[0]->shape());
  for (std::size_t i = 0; i < batch; ++i)
    kernels::gemm({.m = m,
                   .n = n,
                   .k = k,
                   .a = a.data<float>() + (batch_a == 1 ? 0 : i) * m * k,
                   .b = b.data<float>() + (batch_b == 1 ? 0 : i) * k * n,
                   .c = y.data<float>() + i * m * n});
  return {y};
}

/// Input [B, heads, T, D]; one position per (b, t), or a row of the caches for each.
inline Outputs rotary_embedding(const Case& c) {
  const Tensor x = c.in(0).tensor();
  const std::size_t batch = x.shape()[0], heads = x.shape()[1], length = x.shape()[2], width = x.shape()[3];
  Tensor cosines = c.in(1).tensor(), sines = c.in(2).tensor();
  const std::size_t half = cosines.shape().back(), table = cosines.elements() / half;
  std::vector<std::int32_t> positions(batch * length);
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = static_cast<std::int32_t>(c.has(3) ? c.in(3).integers()[i] : static_cast<std::int64_t>(i));
  const Tensor rows = heads_inside(x).reshape({batch * length, heads, width});
  const auto pairs = c.integer("interleaved", 0) != 0 ? RotaryPairs::adjacent : RotaryPairs::halves;
  const Var y = rotary(Var(rows), {cosines.reshape({table, half}), sines.reshape({table, half})}, positions, pairs);
  return {heads_outside(y.value().reshape({batch, length, heads * width}), heads)};
}

/// Along any axis: for each index of the axes before it, the rows of a table.
inline Outputs gather(const Case& c) {
  const Tensor data = c.in(0).tensor();
  const std::size_t axis = axis_of(data.shape(), c.integer("axis", 0));
  const std::size_t outer = product(data.shape(), 0, axis);
  const Shape table{outer, data.shape()[axis], product(data.shape(), axis + 1, data.shape().rank())};
  const std::vector<Var> tables = split(Var(data.reshape(table)), std::vector<std::size_t>(outer, 1), 0);
  const std::vector<std::int64_t> wide = c.in(1).integers();
  const std::vector<std::int32_t> ids(wide.begin(), wide.end());
  std::vector<Var> parts;
  for (const Var& part : tables) parts.push_back(embedding(reshape(part, {table[1], table[2]}), ids));
  return {concat(parts, 0).value().reshape(c.outputs[0]->shape())};
}

/// ONNX corrects the bias only from step 1 on; at step 0 it does not, which is ours after many steps.
inline Outputs adam(const Case& c) {
  Tensor x = c.in(2).tensor(), v = c.in(4).tensor(), h = c.in(5).tensor();
  const std::int64_t step = c.in(1).integers()[0];
  const kernels::AdamSettings settings{.lr = c.in(0).tensor().item(),
                                       .beta1 = c.real("alpha", 0.9),
                                       .beta2 = c.real("beta", 0.999),
                                       .eps = c.real("epsilon", 0),
                                       .weight_decay = c.real("norm_coefficient", 0),
                                       .decoupled = false,
                                       .step = step == 0 ? 1000000 : step};
  kernels::adam(c.in(3).tensor().data<float>(), settings, x.elements(), x.data<float>(), v.data<float>(), h.data<float>());
  return {x, v, h};
}

/// At step 0 the attribute beta (1 - dampening) counts as 1, which is the only value we have.
inline Outputs momentum(const Case& c) {
  Tensor x = c.in(2).tensor(), v = c.in(4).tensor();
  const kernels::SgdSettings settings{.lr = c.in(0).tensor().item(),
                                      .momentum = c.real("alpha", 0),
                                      .weight_decay = c.real("norm_coefficient", 0),
                                      .nesterov = c.text("mode", "") == "nesterov"};
  kernels::sgd(c.in(3).tensor().data<float>(), settings, x.elements(), x.data<float>(), v.data<float>());
  return {x, v};
}

}  // namespace addnorm::test::onnx
