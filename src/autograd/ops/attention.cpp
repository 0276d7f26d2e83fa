#include "kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"

namespace addnorm {
namespace {

/// Where the heads of one operand lie in its Tensor.
struct HeadPlace {
  std::size_t start, batch, row, head;
};

/// Everything but the values. Of joined sequences batch is their number, and queries and keys are the longest.
struct AttentionProblem {
  std::size_t batch, heads, kv_heads, queries, keys, d_head, d_value;
  HeadPlace q, k, v, o;
  AttentionOptions options;
  Shape out;                       // of o
  std::vector<std::size_t> first;  // of joined sequences: the row at which each begins

  template <class T>
  kernels::HeadView<T> view(const HeadPlace& place, T* data) const {
    return {data + place.start, place.batch, place.row, place.head, first.empty() ? nullptr : first.data()};
  }
};

/// Cuts the one row of the batch into its sequences, where it has several.
void join(const char* name, AttentionProblem& p) {
  const AttentionOptions& o = p.options;
  p.out = Shape{p.batch, p.queries, p.heads * p.d_value};
  if (o.joined.empty()) return;
  require(p.batch == 1 && p.queries == p.keys, name, ": joined sequences are rows of one batch, but there are ", p.batch,
          " with ", p.queries, " queries and ", p.keys, " keys");
  require(o.key_lengths.empty() && !o.key_mask && !o.mask && !o.bias.defined() && !o.causal_offset, name,
          ": joined sequences have no key_lengths, masks, bias or causal_offset; leave them out");
  std::size_t rows = 0;
  for (const std::size_t length : o.joined) {
    require(length >= 1 && length <= p.keys - rows, name, ": the joined sequences do not fit: one of ", length, " tokens after ",
            rows, " of ", p.keys);
    p.first.push_back(rows);
    rows += length;
  }
  require(rows == p.keys, name, ": the joined sequences have ", rows, " tokens, but there are ", p.keys);
  p.batch = o.joined.size();
  p.queries = p.keys = *std::max_element(o.joined.begin(), o.joined.end());
}

/// heads and kv_heads of the options, checked.
std::size_t kv_heads_of(const char* name, const AttentionOptions& options) {
  const std::size_t kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  require(options.heads >= 1, name, ": 0 heads given, at least 1 is needed");
  require(options.heads % kv_heads == 0, name, ": ", kv_heads, " kv_heads do not divide ", options.heads, " heads");
  return kv_heads;
}

/// last axis / heads.
std::size_t head_width(const char* name, const char* operand, const Shape& shape, std::size_t heads) {
  require(shape.rank() == 3, name, ": ", operand, " is ", shape, ", expected [batch, tokens, width]");
  require(shape[2] != 0 && shape[2] % heads == 0, name, ": ", operand, " is ", shape, ", its last axis is not a multiple of ",
          heads, " heads");
  return shape[2] / heads;
}

/// `shape` must be `full`, with 1 allowed in place of any axis but the last.
void check_broadcast(const char* name, const char* what, const Shape& shape, const Shape& full) {
  bool fits = shape.rank() == full.rank() && shape.back() == full.back();
  for (std::size_t axis = 0; fits && axis + 1 < full.rank(); ++axis) fits = shape[axis] == 1 || shape[axis] == full[axis];
  require(fits, name, ": ", what, " is ", shape, ", expected ", full, " (1 allowed for any axis but the last)");
}

void check_mask(const char* name, const char* what, const AttentionMask& mask, const Shape& full) {
  check_broadcast(name, what, mask.shape, full);
  require(mask.values.size() == mask.shape.elements(), name, ": ", what, " has ", mask.values.size(), " values, its shape is ",
          mask.shape);
}

void check_options(const char* name, const AttentionProblem& p, DType dtype) {
  const AttentionOptions& options = p.options;
  const Shape scores{p.batch, p.heads, p.queries, p.keys};
  if (options.scale) detail::require_finite_in(dtype, name, "scale", *options.scale);
  const bool cap_counts = dispatch(dtype, [&](auto zero) { return static_cast<decltype(zero)>(options.softcap) > 0; });
  require(options.softcap == 0 || (cap_counts && detail::is_finite_in(dtype, options.softcap)), name, ": softcap is ",
          options.softcap, ", expected 0 (none) or a number that is positive and finite in ", dtype);
  require(options.key_lengths.empty() || options.key_lengths.size() == p.batch, name, ": ", options.key_lengths.size(),
          " key_lengths given for a batch of ", p.batch);
  for (const std::size_t length : options.key_lengths)
    require(length <= p.keys, name, ": a key length is ", length, ", but there are ", p.keys, " keys");
  if (options.key_mask) check_mask(name, "key_mask", *options.key_mask, Shape{p.batch, p.keys});
  if (options.mask) check_mask(name, "mask", *options.mask, scores);
  if (!options.bias.defined()) return;
  check_broadcast(name, "bias", options.bias.shape(), scores);
  detail::require_same_dtype(name, "bias", options.bias.dtype(), "q", dtype);
}

/// A mask of shape [B or 1, H or 1, Tq or 1, Tk] as the kernels read it; axes of size 1 get stride 0.
template <class T>
kernels::MaskView<T> mask_view(const T* data, const Shape& shape) {
  const auto stride = [&](std::size_t axis, std::size_t step) { return shape[axis] == 1 ? 0 : step; };
  return {data, stride(0, shape[1] * shape[2] * shape[3]), stride(1, shape[2] * shape[3]), stride(2, shape[3])};
}

template <class T>
kernels::BasicAttentionArgs<T> arguments(const AttentionProblem& p, const Tensor& q, const Tensor& k, const Tensor& v, Tensor& o,
                                         Tensor& lse) {
  const AttentionOptions& options = p.options;
  kernels::BasicAttentionArgs<T> a;
  a.batch = p.batch, a.heads = p.heads, a.kv_heads = p.kv_heads, a.queries = p.queries, a.keys = p.keys;
  a.d_head = p.d_head, a.d_value = p.d_value;
  if (!p.first.empty()) a.lengths = options.joined.data();
  a.q = p.view(p.q, q.data<T>()), a.k = p.view(p.k, k.data<T>()), a.v = p.view(p.v, v.data<T>());
  a.o = p.view(p.o, o.data<T>());
  a.lse = lse.defined() ? lse.data<double>() : nullptr;
  a.scale = static_cast<T>(options.scale.value_or(1 / std::sqrt(static_cast<double>(p.d_head))));
  a.softcap = static_cast<T>(options.softcap);
  a.causal = options.causal;
  a.causal_offset = options.causal_offset.value_or(static_cast<std::ptrdiff_t>(p.keys) - static_cast<std::ptrdiff_t>(p.queries));
  if (!options.key_lengths.empty()) a.key_lengths = options.key_lengths.data();
  if (options.mask) a.mask = mask_view(options.mask->values.data(), options.mask->shape);
  if (options.key_mask)
    a.key_mask = mask_view(options.key_mask->values.data(), Shape{options.key_mask->shape[0], 1, 1, options.key_mask->shape[1]});
  if (options.bias.defined()) a.bias = mask_view(options.bias.template data<T>(), options.bias.shape());
  return a;
}

void set_scratch(kernels::AttentionArgs& a, std::size_t floats, Tensor& scratch) {
  scratch = Tensor({floats});
  a.scratch = scratch.data<float>();
}
void set_scratch(kernels::BasicAttentionArgs<double>&, std::size_t, Tensor&) {}  // the reference loops need none

std::size_t forward_scratch(const kernels::AttentionArgs& a) { return kernels::attention_forward_scratch(a); }
std::size_t backward_scratch(const kernels::AttentionArgs& a) { return kernels::attention_backward_scratch(a); }
std::size_t forward_scratch(const kernels::BasicAttentionArgs<double>&) { return 0; }
std::size_t backward_scratch(const kernels::BasicAttentionArgs<double>&) { return 0; }

/// What forward made: o [B, Tq, heads * d_value] and, for backward, lse [B, heads, Tq].
struct Result {
  Tensor o, lse;
};

Result compute(const AttentionProblem& p, const Tensor& q, const Tensor& k, const Tensor& v, bool for_backward) {
  Result result{Tensor(p.out, q.dtype()), for_backward ? Tensor({p.batch, p.heads, p.queries}, DType::f64) : Tensor()};
  dispatch(q.dtype(), [&](auto zero) {
    auto args = arguments<decltype(zero)>(p, q, k, v, result.o, result.lse);
    Tensor scratch;
    set_scratch(args, forward_scratch(args), scratch);
    kernels::attention_forward(args);
  });
  return result;
}

/// Gradients into the Tensors that are defined; they lie there as q, k and v do in theirs.
void compute_gradients(const AttentionProblem& p, const Tensor& q, const Tensor& k, const Tensor& v, Result kept,
                       const Tensor& d_o, Tensor dq, Tensor dk, Tensor dv) {
  dispatch(q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::BasicAttentionGradArgs<T> g;
    g.forward = arguments<T>(p, q, k, v, kept.o, kept.lse);
    g.d_o = p.view(p.o, d_o.data<T>());
    if (dq.defined()) g.dq = p.view(p.q, dq.data<T>());
    if (dk.defined()) g.dk = p.view(p.k, dk.data<T>());
    if (dv.defined()) g.dv = p.view(p.v, dv.data<T>());
    Tensor scratch;
    set_scratch(g.forward, backward_scratch(g.forward), scratch);
    kernels::attention_backward(g);
  });
}

}  // namespace

Var attention(const Var& q, const Var& k, const Var& v, const AttentionOptions& options) {
  detail::require_defined("attention", "q", q);
  detail::require_defined("attention", "k", k);
  detail::require_defined("attention", "v", v);
  detail::require_same_dtype("attention", "q", q, "k", k);
  detail::require_same_dtype("attention", "q", q, "v", v);
  const std::size_t kv_heads = kv_heads_of("attention", options);
  const std::size_t d_head = head_width("attention", "q", q.shape(), options.heads);
  const std::size_t d_value = head_width("attention", "v", v.shape(), kv_heads);
  const std::size_t batch = q.shape()[0], queries = q.shape()[1], keys = v.shape()[1];
  require(v.shape()[0] == batch, "attention: q is ", q.shape(), ", v is ", v.shape(), ": another batch");
  require(k.shape() == Shape{batch, keys, kv_heads * d_head}, "attention: k is ", k.shape(), ", expected ",
          Shape{batch, keys, kv_heads * d_head}, " for q ", q.shape(), ", v ", v.shape(), " and ", options.heads, "/", kv_heads,
          " heads");
  const auto rows = [](std::size_t tokens, std::size_t heads, std::size_t width) {
    return HeadPlace{0, tokens * heads * width, heads * width, width};
  };
  AttentionProblem problem{batch,
                           options.heads,
                           kv_heads,
                           queries,
                           keys,
                           d_head,
                           d_value,
                           rows(queries, options.heads, d_head),
                           rows(keys, kv_heads, d_head),
                           rows(keys, kv_heads, d_value),
                           rows(queries, options.heads, d_value),
                           options,
                           {},
                           {}};
  check_options("attention", problem, q.dtype());
  join("attention", problem);

  const bool for_backward = grad_enabled() && (q.requires_grad() || k.requires_grad() || v.requires_grad());
  Result kept = compute(problem, q.value(), k.value(), v.value(), for_backward);
  Tensor o = kept.o;
  return record("attention", {q, k, v}, std::move(o),
                [problem, kept, q = q.value(), k = k.value(), v = v.value()](const Tensor& dy, Grads& grads) {
                  const Tensor* inputs[] = {&q, &k, &v};
                  Tensor d[3];
                  for (std::size_t i = 0; i < 3; ++i)
                    if (grads.wanted(i)) d[i] = Tensor(inputs[i]->shape(), inputs[i]->dtype());
                  compute_gradients(problem, q, k, v, kept, dy, d[0], d[1], d[2]);
                  for (std::size_t i = 0; i < 3; ++i)
                    if (grads.wanted(i)) grads.give(i, std::move(d[i]));
                });
}

Var attention_packed(const Var& qkv, const AttentionOptions& options) {
  detail::require_defined("attention_packed", "qkv", qkv);
  const std::size_t heads = options.heads, kv_heads = kv_heads_of("attention_packed", options);
  const std::size_t width = head_width("attention_packed", "qkv", qkv.shape(), heads + 2 * kv_heads);
  const std::size_t batch = qkv.shape()[0], tokens = qkv.shape()[1], row = qkv.shape()[2];
  const auto part = [&](std::size_t first_head) { return HeadPlace{first_head * width, tokens * row, row, width}; };
  AttentionProblem problem{batch,
                           heads,
                           kv_heads,
                           tokens,
                           tokens,
                           width,
                           width,
                           part(0),
                           part(heads),
                           part(heads + kv_heads),
                           HeadPlace{0, tokens * heads * width, heads * width, width},
                           options,
                           {},
                           {}};
  check_options("attention_packed", problem, qkv.dtype());
  join("attention_packed", problem);

  Result kept = compute(problem, qkv.value(), qkv.value(), qkv.value(), grad_enabled() && qkv.requires_grad());
  Tensor o = kept.o;
  return record("attention_packed", {qkv}, std::move(o), [problem, kept, qkv = qkv.value()](const Tensor& dy, Grads& grads) {
    Tensor dqkv(qkv.shape(), qkv.dtype());
    compute_gradients(problem, qkv, qkv, qkv, kept, dy, dqkv, dqkv, dqkv);
    grads.give(0, std::move(dqkv));
  });
}

}  // namespace addnorm
