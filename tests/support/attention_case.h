// One attention problem, run by the float kernels and by the double reference, and how far they may differ.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/attention/attention.h"
#include "support/near.h"

namespace addnorm::test {

/// Attention in float32 with inputs of size about 1: scores are sums of `width` products, gradients sums over `length`
/// probabilities times such sums; each rounding errs by 2^-24, and errors of scores pass into probabilities as they are.
inline Tolerance attention_tolerance(std::size_t length, std::size_t width) {
  const double bound = 4 * (std::sqrt(static_cast<double>(length)) + static_cast<double>(width)) * 0x1p-24;
  return {bound, bound};
}

/// The same for dq and dk where inputs or scale are of size `factor`: sums of ds times it.
inline Tolerance attention_gradient_tolerance(std::size_t length, std::size_t width, double factor) {
  const Tolerance one = attention_tolerance(length, width);
  return {factor * one.atol, one.rtol};
}

enum class Layout { separate, packed, heads_first };  // [B, T, H * D] | q, k, v side by side in [B, T, ...] | [B, H, T, D]

struct AttentionCase {
  std::size_t batch = 2, heads = 2, kv_heads = 2, queries = 5, keys = 5, d_head = 8, d_value = 8;
  Layout layout = Layout::separate;  // packed: queries == keys
  bool causal = false;
  std::ptrdiff_t offset = 0;
  double scale = 0.3, softcap = 0;
  std::vector<std::ptrdiff_t> offsets = {};  // per batch
  std::vector<std::size_t> lengths = {};     // per batch
  std::vector<std::uint8_t> mask = {};       // [batch, heads, queries, keys]
  std::vector<std::uint8_t> key_mask = {};   // [batch, keys]
  std::vector<float> bias = {};              // [heads, queries, keys]

  std::string text() const {
    return concat("batch ", batch, " heads ", heads, "/", kv_heads, " queries ", queries, " keys ", keys, " d ", d_head, "/",
                  d_value, " layout ", static_cast<int>(layout), causal ? " causal " : " offset ", offset);
  }
};

/// Inputs drawn from the seed, outputs and gradients in the layout of the case.
template <class T>
class AttentionRun {
 public:
  explicit AttentionRun(const AttentionCase& problem, std::uint64_t seed = 1, double spread = 1)
      : c(problem),
        q(values(c.batch * c.queries * c.heads * c.d_head, seed, spread)),
        k(values(c.batch * c.keys * c.kv_heads * c.d_head, seed + 1, spread)),
        v(values(c.batch * c.keys * c.kv_heads * c.d_value, seed + 2, 1)),
        d_o(values(c.batch * c.queries * c.heads * c.d_value, seed + 3, 1)),
        o(d_o.size(), T{99}),
        dq(q.size(), T{99}),
        dk(k.size(), T{99}),
        dv(v.size(), T{99}),  // 99: whatever was there before
        lse(c.batch * c.heads * c.queries, 99),
        bias_(c.bias.begin(), c.bias.end()) {
    if (c.layout != Layout::packed) return;
    qkv.assign(c.batch * c.queries * packed_width(), T{0});
    dqkv.assign(qkv.size(), T{99});
    for (std::size_t row = 0; row < c.batch * c.queries; ++row) {
      T* to = qkv.data() + row * packed_width();
      to = std::copy_n(q.data() + row * c.heads * c.d_head, c.heads * c.d_head, to);
      to = std::copy_n(k.data() + row * c.kv_heads * c.d_head, c.kv_heads * c.d_head, to);
      std::copy_n(v.data() + row * c.kv_heads * c.d_value, c.kv_heads * c.d_value, to);
    }
  }

  void forward() { kernels::attention_forward(args()); }
  void backward() {
    kernels::BasicAttentionGradArgs<T> g;
    g.forward = args();
    g.d_o = view<const T>(d_o.data(), c.queries, c.heads, c.d_value);
    g.dq = c.layout == Layout::packed ? packed<T>(dqkv.data(), 0, c.d_head) : view<T>(dq.data(), c.queries, c.heads, c.d_head);
    g.dk = c.layout == Layout::packed ? packed<T>(dqkv.data(), 1, c.d_head) : view<T>(dk.data(), c.keys, c.kv_heads, c.d_head);
    g.dv = c.layout == Layout::packed ? packed<T>(dqkv.data(), 2, c.d_value) : view<T>(dv.data(), c.keys, c.kv_heads, c.d_value);
    if (!want_dq) g.dq = {};
    if (!want_dk) g.dk = {};
    if (!want_dv) g.dv = {};
    kernels::attention_backward(g);
  }
  AttentionRun& both() {
    forward();
    backward();
    return *this;
  }

  AttentionCase c;
  std::vector<T> q, k, v, d_o, o, dq, dk, dv, qkv, dqkv;
  std::vector<double> lse;
  bool want_dq = true, want_dk = true, want_dv = true;

 private:
  static std::vector<T> values(std::size_t n, std::uint64_t seed, double spread) {
    const auto drawn = normal_values(n, seed, 0, spread);
    return {drawn.begin(), drawn.end()};
  }
  std::size_t packed_width() const { return (c.heads + c.kv_heads) * c.d_head + c.kv_heads * c.d_value; }

  template <class U>
  kernels::HeadView<U> view(U* data, std::size_t rows, std::size_t heads, std::size_t width) const {
    if (c.layout == Layout::heads_first) return {data, heads * rows * width, width, rows * width};
    return {data, rows * heads * width, heads * width, width};
  }
  template <class U>
  kernels::HeadView<U> packed(U* data, std::size_t part, std::size_t width) const {
    const std::size_t start = part == 0 ? 0 : part == 1 ? c.heads * c.d_head : (c.heads + c.kv_heads) * c.d_head;
    return {data + start, c.queries * packed_width(), packed_width(), width};
  }

  kernels::BasicAttentionArgs<T> args() {
    kernels::BasicAttentionArgs<T> a;
    a.batch = c.batch, a.heads = c.heads, a.kv_heads = c.kv_heads, a.queries = c.queries, a.keys = c.keys;
    a.d_head = c.d_head, a.d_value = c.d_value;
    const bool pack = c.layout == Layout::packed;
    a.q = pack ? packed<const T>(qkv.data(), 0, c.d_head) : view<const T>(q.data(), c.queries, c.heads, c.d_head);
    a.k = pack ? packed<const T>(qkv.data(), 1, c.d_head) : view<const T>(k.data(), c.keys, c.kv_heads, c.d_head);
    a.v = pack ? packed<const T>(qkv.data(), 2, c.d_value) : view<const T>(v.data(), c.keys, c.kv_heads, c.d_value);
    a.o = view<T>(o.data(), c.queries, c.heads, c.d_value);
    a.lse = lse.data();
    a.scale = static_cast<T>(c.scale), a.softcap = static_cast<T>(c.softcap);
    a.causal = c.causal, a.causal_offset = c.offset;
    if (!c.offsets.empty()) a.causal_offsets = c.offsets.data();
    if (!c.lengths.empty()) a.key_lengths = c.lengths.data();
    const std::size_t square = c.queries * c.keys;
    if (!c.mask.empty()) a.mask = {c.mask.data(), c.heads * square, square, c.keys};
    if (!c.key_mask.empty()) a.key_mask = {c.key_mask.data(), c.keys, 0, 0};
    if (!bias_.empty()) a.bias = {bias_.data(), 0, square, c.keys};
    if constexpr (std::is_same_v<T, float>) {
      scratch_.resize(std::max(kernels::attention_forward_scratch(a), kernels::attention_backward_scratch(a)));
      a.scratch = scratch_.data();
    }
    return a;
  }

  std::vector<T> bias_, scratch_;
};

}  // namespace addnorm::test
