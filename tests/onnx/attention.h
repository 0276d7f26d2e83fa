// The ONNX Attention operator by our attention op: both layouts, masks, past keys, padding.
#pragma once

#include "addnorm/autograd/ops.h"
#include "onnx/case.h"
#include "onnx/layout.h"

namespace addnorm::test::onnx {

/// Part b of a tensor whose first axis is the batch, keeping that axis with size 1. A batch of 1 serves every b.
inline Tensor batch_of(const Tensor& x, std::size_t b) {
  const std::size_t size = x.elements() / x.shape()[0], begin = x.shape()[0] == 1 ? 0 : b * size;
  return Tensor::of(x.shape().with(0, 1), x.values<float>().subspan(begin, size));
}

/// A mask of rank 2, 3 or 4 with rank 4: [1, 1, Tq, Tk], [1, H, Tq, Tk] or as it is.
inline Shape mask_shape(const Shape& given) {
  std::vector<std::size_t> sizes(given.begin(), given.end());
  while (sizes.size() < 4) sizes.insert(sizes.begin(), 1);
  return Shape(sizes);
}

inline void set_mask(const Case& c, std::size_t b, AttentionOptions& options) {
  if (!c.has(3)) return;
  const Shape shape = mask_shape(c.in(3).shape());
  if (c.in(3).dtype() != "|b1") {
    options.bias = batch_of(c.in(3).tensor().reshape(shape), b);
    return;
  }
  const std::vector<std::uint8_t> all = c.in(3).bools();
  const std::size_t size = all.size() / shape[0];
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>((shape[0] == 1 ? 0 : b) * size);
  options.mask = std::make_shared<const AttentionMask>(
      AttentionMask{shape.with(0, 1), std::vector<std::uint8_t>(begin, begin + static_cast<std::ptrdiff_t>(size))});
}

/// Heads outside: [B, H, T, D], from that or from [B, T, H * D].
inline Tensor four_axes(const Tensor& x, std::size_t heads) { return x.shape().rank() == 4 ? x : heads_outside(x, heads); }

/// A causal query i of sequence b sees keys up to i + offset: the number of keys before the first query, which is the length
/// of the past, or what the given number of keys leaves beyond the queries.
inline std::ptrdiff_t keys_before(const Case& c, std::size_t b, std::size_t queries) {
  if (c.has(6)) return static_cast<std::ptrdiff_t>(c.in(6).integers()[b]) - static_cast<std::ptrdiff_t>(queries);
  return c.has(4) ? static_cast<std::ptrdiff_t>(c.in(4).shape()[2]) : 0;
}

inline std::vector<Tensor> attention_by_batch(const Case& c) {
  const Tensor q = c.in(0).tensor();
  const bool four = q.shape().rank() == 4;
  AttentionOptions options;
  options.heads = four ? q.shape()[1] : static_cast<std::size_t>(c.integer("q_num_heads", 1));
  options.kv_heads = four ? c.in(1).shape()[1] : static_cast<std::size_t>(c.integer("kv_num_heads", 1));
  if (c.given("scale")) options.scale = c.real("scale", 1);
  options.softcap = c.real("softcap", 0);
  options.causal = c.integer("is_causal", 0) != 0;

  Var keys(four_axes(c.in(1).tensor(), options.kv_heads)), values(four_axes(c.in(2).tensor(), options.kv_heads));
  if (c.has(4)) keys = concat({c.var(4), keys}, 2);
  if (c.has(5)) values = concat({c.var(5), values}, 2);
  const Tensor query = four ? heads_inside(q) : q, key = heads_inside(keys.value()), value = heads_inside(values.value());

  std::vector<Var> parts;
  for (std::size_t b = 0; b < q.shape()[0]; ++b) {
    AttentionOptions one = options;
    set_mask(c, b, one);
    one.causal_offset = keys_before(c, b, query.shape()[1]);
    if (c.has(6)) one.key_lengths = {static_cast<std::size_t>(c.in(6).integers()[b])};
    parts.push_back(attention(Var(batch_of(query, b)), Var(batch_of(key, b)), Var(batch_of(value, b)), one));
  }
  const Tensor y = concat(parts, 0).value();
  return {four ? heads_outside(y, options.heads) : y, keys.value(), values.value()};
}

}  // namespace addnorm::test::onnx
