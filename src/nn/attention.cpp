#include "addnorm/nn/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "addnorm/autograd/tape.h"

namespace addnorm {
namespace {

void complete(RotaryOptions& rope, std::size_t d_head) {
  if (rope.d_rotary == 0) rope.d_rotary = d_head;
  if (!rope.angles.cos.defined()) {
    rope.angles = rotary_tables(rope.max_positions, rope.d_rotary, rope.base);
    rope.angles_in_double = rotary_tables(rope.max_positions, rope.d_rotary, rope.base, DType::f64);
  }
  const Shape needed{rope.max_positions, rope.d_rotary / 2};
  require(rope.angles.cos.shape() == needed && rope.d_rotary <= d_head, "Attention: the rotary angles are ",
          rope.angles.cos.shape(), ", max_positions is ", rope.max_positions, ", d_rotary is ", rope.d_rotary,
          "; they must be [max_positions, d_rotary / 2], and d_rotary fit into heads of ", d_head);
}

MultiHeadOptions completed(MultiHeadOptions o) {
  require(o.d_model > 0 && o.heads > 0, "Attention: d_model is ", o.d_model, ", heads is ", o.heads, "; both must be positive");
  if (o.kv_heads == 0) o.kv_heads = o.heads;
  require(o.heads % o.kv_heads == 0, "Attention: heads is ", o.heads, ", kv_heads is ", o.kv_heads,
          "; every key/value head serves the same number of heads, so kv_heads must divide heads");
  if (o.d_head == 0) {
    require(o.d_model % o.heads == 0, "Attention: heads is ", o.heads, ", d_model is ", o.d_model,
            "; heads must divide d_model, or d_head be given");
    o.d_head = o.d_model / o.heads;
  }
  if (o.d_memory == 0) o.d_memory = o.d_model;
  require(!(o.cross && o.causal), "Attention: cross-attention sees all of the memory; causal must be false");
  require(!o.v_norm || o.qk_norm.formula != NormFormula::none,
          "Attention: v_norm takes the kind of norm from qk_norm, which is none; name one there");
  require(!(o.cross && o.rotary),
          "Attention: queries and memory of cross-attention have no common positions; rotary must be off");
  require(o.head_gain != HeadGain::after_out || o.d_model % o.heads == 0,
          "Attention: a head gain after the output projection cuts d_model (", o.d_model, ") into ", o.heads,
          " heads, which does not divide it");
  if (o.rotary) complete(*o.rotary, o.d_head);
  return o;
}

Var norm_heads(const Norm& norm, const Var& x, std::size_t heads, QkNormSpan span, const Pass& pass) {
  if (norm.is_identity()) return x;
  if (span == QkNormSpan::projection) return norm(x, pass);
  const Shape& s = x.shape();
  return reshape(norm(reshape(x, {s[0], s[1], heads, s[2] / heads}), pass), s);
}

/// One number per head, repeated for each of its features; a product with 0s and 1s, so exact.
Var per_feature(const Var& gain, std::size_t d_head) {
  const std::size_t heads = gain.shape()[0];
  std::vector<double> ones(heads * d_head * heads, 0.0);
  for (std::size_t row = 0; row < heads * d_head; ++row) ones[row * heads + row / d_head] = 1;
  const Var repeat(Tensor::of({heads * d_head, heads}, ones).to(gain.dtype()));
  return reshape(linear(reshape(gain, {1, heads}), repeat), {heads * d_head});
}

/// Writes the rows of `from` [B, T, n] after the first `length` tokens of `to` [B, capacity, n].
void append(Tensor& to, std::size_t length, const Tensor& from) {
  const std::size_t batch = from.shape()[0], tokens = from.shape()[1], width = from.shape()[2], capacity = to.shape()[1];
  for (std::size_t b = 0; b < batch; ++b)
    std::memcpy(to.data<float>() + (b * capacity + length) * width, from.data<float>() + b * tokens * width,
                tokens * width * sizeof(float));
}

Tensor selected(const Tensor& x, std::span<const std::size_t> from) {
  const std::size_t row = x.elements() / x.shape()[0];
  Tensor y(x.shape().with(0, from.size()));
  for (std::size_t i = 0; i < from.size(); ++i)
    std::memcpy(y.data<float>() + i * row, x.data<float>() + from[i] * row, row * sizeof(float));
  return y;
}

}  // namespace

void AttentionCache::select(std::span<const std::size_t> from) {
  require(k.defined() && v.defined(), "AttentionCache: select() of a cache that holds nothing yet; run the model with it first");
  for (const std::size_t row : from)
    require(row < k.shape()[0], "AttentionCache: row ", row, " is selected, but there are ", k.shape()[0]);
  k = selected(k, from);
  v = selected(v, from);
}

Attention::Attention(const MultiHeadOptions& options) : options_(completed(options)) {
  const MultiHeadOptions& o = options_;
  const std::size_t q_rows = o.heads * o.d_head, kv_rows = o.kv_heads * o.d_head;
  if (o.cross) {
    q_ = Linear(o.d_model, q_rows, Role::q, o.bias);
    kv_ = Linear(o.d_memory, {{Role::k, 0, kv_rows}, {Role::v, kv_rows, kv_rows}}, o.bias);
  } else {
    qkv_ = Linear(o.d_model, {{Role::q, 0, q_rows}, {Role::k, q_rows, kv_rows}, {Role::v, q_rows + kv_rows, kv_rows}}, o.bias);
  }
  if (o.qk_norm.formula != NormFormula::none) {
    const bool whole = o.qk_norm_span == QkNormSpan::projection;
    q_norm_ = Norm(o.qk_norm, whole ? q_rows : o.d_head);
    k_norm_ = Norm(o.qk_norm, whole ? kv_rows : o.d_head);
    if (o.v_norm) v_norm_ = Norm(o.qk_norm, o.d_head);
  }
  inner_ = Norm(o.inner_norm, q_rows);
  if (o.head_gain != HeadGain::none) head_gain_ = Var(Tensor::full({o.heads}, 1), true);
  out_ = Linear(q_rows, o.d_model, Role::attention_out, o.out_bias.value_or(o.bias));
}

AttentionCache Attention::cache(std::size_t batch, std::size_t capacity) const {
  if (options_.cross) return {};
  const Shape shape{batch, capacity, options_.kv_heads * options_.d_head};
  return {Tensor::zeros(shape), Tensor::zeros(shape), 0};
}

Attention::Heads Attention::project(const Var& x, const AttentionInput& input, const Pass& pass) const {
  const MultiHeadOptions& o = options_;
  const std::size_t q_rows = o.heads * o.d_head, kv_rows = o.kv_heads * o.d_head;
  Heads h;
  if (!o.cross) {
    const std::vector<Var> parts = split(qkv_(x), {q_rows, kv_rows, kv_rows}, -1);
    h = {parts[0], parts[1], parts[2]};
  } else {
    h.q = q_(x);
    if (!input.cache || input.cache->length == 0) {
      require(input.memory.defined(), "Attention: memory is an undefined Var; cross-attention takes its keys and values from it");
      const std::vector<Var> parts = split(kv_(input.memory), {kv_rows, kv_rows}, -1);
      h.k = parts[0];
      h.v = parts[1];
    }
  }
  h.q = norm_heads(q_norm_, h.q, o.heads, o.qk_norm_span, pass);
  if (h.k.defined()) {
    h.k = norm_heads(k_norm_, h.k, o.kv_heads, o.qk_norm_span, pass);
    h.v = norm_heads(v_norm_, h.v, o.kv_heads, QkNormSpan::head, pass);
  }
  if (o.rotary) {
    h.q = turned(h.q, o.heads, input);
    h.k = turned(h.k, o.kv_heads, input);
  }
  return h;
}

Var Attention::turned(const Var& x, std::size_t heads, const AttentionInput& input) const {
  const RotaryOptions& rope = *options_.rotary;
  const Shape& s = x.shape();
  const std::size_t first = input.cache ? input.cache->length : input.first_position;
  const std::size_t tokens = input.joined.empty() ? s[1] : *std::max_element(input.joined.begin(), input.joined.end());
  require(first + tokens <= rope.max_positions, "Attention: tokens up to position ", first + tokens, ", but max_positions is ",
          rope.max_positions, "; cut the text, or make the model with more positions");
  const RotaryTables& tables = x.dtype() == DType::f32 ? rope.angles : rope.angles_in_double;
  const std::vector<std::int32_t> positions = token_positions(s[0], s[1], input.joined, first);
  return reshape(rotary(reshape(x, {s[0], s[1], heads, s[2] / heads}), tables, positions, rope.pairs), s);
}

/// Keys and values so far: what the cache holds, then those of this call.
Attention::Heads Attention::remembered(Heads h, AttentionCache& cache) const {
  require(!grad_enabled(), "Attention: a cache is for decoding and keeps no graph; put NoGrad around it");
  require(!cache.k.defined() || cache.k.shape()[0] == h.q.shape()[0], "Attention: the cache is of ",
          cache.k.defined() ? cache.k.shape()[0] : 0, " sequences, x of ", h.q.shape()[0],
          "; make a cache for as many, or select() its rows");
  if (options_.cross) {
    if (cache.length == 0) cache = {h.k.value(), h.v.value(), h.k.shape()[1]};
    return {h.q, Var(cache.k), Var(cache.v)};
  }
  const std::size_t tokens = h.k.shape()[1];
  require(cache.k.defined() && cache.length + tokens <= cache.k.shape()[1], "Attention: the cache has room for ",
          cache.k.defined() ? cache.k.shape()[1] : 0, " tokens and holds ", cache.length, "; ", tokens,
          " more do not fit: make it with more capacity, or cut the text");
  append(cache.k, cache.length, h.k.value());
  append(cache.v, cache.length, h.v.value());
  cache.length += tokens;
  return {h.q, Var(cache.k), Var(cache.v)};
}

Var Attention::operator()(const Var& x, const AttentionInput& input, const Pass& pass) const {
  const MultiHeadOptions& o = options_;
  require(x.defined() && x.shape().rank() == 3 && x.shape()[2] == o.d_model, "Attention: x is ",
          x.defined() ? x.shape().text() : "undefined", "; [batch, tokens, ", o.d_model, "] is needed");
  AttentionOptions options{.heads = o.heads,
                           .kv_heads = o.kv_heads,
                           .scale = o.scale,
                           .softcap = o.softcap,
                           .causal = o.causal,
                           .key_lengths = input.key_lengths,
                           .mask = input.mask,
                           .joined = input.joined};
  require(input.joined.empty() || (!o.cross && !input.cache && !input.watch),
          "Attention: joined sequences are for self-attention without a cache, and are not watched; pad them instead");
  require(!input.cache || (input.first_position == 0 && (o.cross || input.key_lengths.empty())),
          "Attention: first_position and key_lengths are given together with a cache, which knows both; leave them out");
  const double scale = o.scale.value_or(1 / std::sqrt(static_cast<double>(o.d_head)));
  if (!o.cross && !o.rotary && q_norm_.is_identity() && !input.cache) {
    const Var qkv = qkv_(x);
    if (input.watch) {
      const std::size_t q_rows = o.heads * o.d_head, kv_rows = o.kv_heads * o.d_head;
      const std::vector<Var> parts = split(qkv.detach(), {q_rows, kv_rows, kv_rows}, -1);
      input.watch({parts[0].value(), parts[1].value(), options, scale});
    }
    return finish(attention_packed(qkv, options), pass);
  }

  Heads h = project(x, input, pass);
  if (input.cache) {
    h = remembered(h, *input.cache);
    if (!o.cross) {
      options.key_lengths.assign(x.shape()[0], input.cache->length);
      options.causal_offset = static_cast<std::ptrdiff_t>(input.cache->length) - static_cast<std::ptrdiff_t>(x.shape()[1]);
    }
  }
  if (input.watch) input.watch({h.q.value(), h.k.value(), options, scale});
  return finish(attention(h.q, h.k, h.v, options), pass);
}

Var Attention::finish(const Var& heads, const Pass& pass) const {
  const MultiHeadOptions& o = options_;
  const Var gained = o.head_gain == HeadGain::before_out ? mul_row(heads, per_feature(head_gain_, o.d_head)) : heads;
  const Var y = out_(inner_(gained, pass));
  return o.head_gain == HeadGain::after_out ? mul_row(y, per_feature(head_gain_, o.d_model / o.heads)) : y;
}

void Attention::visit(Visitor& visitor) {
  if (options_.cross) {
    visitor.child("q", q_);
    visitor.child("kv", kv_);
  } else {
    visitor.child("qkv", qkv_);
  }
  visitor.child("q_norm", q_norm_);
  visitor.child("k_norm", k_norm_);
  visitor.child("v_norm", v_norm_);
  visitor.parameter("head_gain", head_gain_, Role::coefficient);
  visitor.child("norm", inner_);
  visitor.child("out", out_);
}

}  // namespace addnorm
