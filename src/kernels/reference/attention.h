// Specification of attention, one query after the other, scores computed again wherever they are needed; and of the rotary
// embedding.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/args.h"
#include "kernels/reference/reduce.h"

namespace addnorm::kernels::reference {
namespace attention {

/// May query i see key j at all? The bias is not asked.
template <class T>
bool visible(const BasicAttentionArgs<T>& a, std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
  if (a.key_lengths != nullptr && j >= a.key_lengths[b]) return false;
  if (a.causal && static_cast<std::ptrdiff_t>(j) > static_cast<std::ptrdiff_t>(i) + clamped_offset(a, b)) return false;
  if (a.mask.data != nullptr && a.mask.at(b, h, i)[j] == 0) return false;
  return a.key_mask.data == nullptr || a.key_mask.at(b, h, i)[j] != 0;
}

/// A score before the bias, and its derivative by q_i . k_j.
struct Score {
  double s;
  double slope;
};

template <class T>
Score score(const BasicAttentionArgs<T>& a, std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
  const std::size_t kv_head = h / (a.heads / a.kv_heads);
  const auto scale = static_cast<double>(a.scale), cap = static_cast<double>(a.softcap);
  const double s = scale * dot(a.q.at(b, i, h), a.k.at(b, j, kv_head), a.d_head);
  if (cap == 0) return {s, scale};
  const double t = std::tanh(s / cap);
  return {cap * t, scale * (1 - t * t)};
}

template <class T>
double bias(const BasicAttentionArgs<T>& a, std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
  return a.bias.data == nullptr ? 0 : static_cast<double>(a.bias.at(b, h, i)[j]);
}

/// Sets a whole gradient to zero.
template <class T>
void clear(const HeadView<T>& view, const BasicAttentionArgs<T>& a, bool queries, std::size_t heads, std::size_t width) {
  for (std::size_t b = 0; view.data != nullptr && b < a.batch; ++b)
    for (std::size_t t = 0; t < (queries ? query_count(a, b) : key_rows(a, b)); ++t)
      for (std::size_t h = 0; h < heads; ++h) std::fill_n(view.at(b, t, h), width, T{0});
}

/// row += factor * x, where the gradient is wanted.
template <class T>
void add_scaled(const HeadView<T>& view, std::size_t b, std::size_t t, std::size_t h, double factor, const T* x, std::size_t n) {
  for (std::size_t c = 0; view.data != nullptr && c < n; ++c)
    view.at(b, t, h)[c] += static_cast<T>(factor * static_cast<double>(x[c]));
}

}  // namespace attention

template <class T>
void attention_forward(const BasicAttentionArgs<T>& a) {
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  for (std::size_t b = 0; b < a.batch; ++b)
    for (std::size_t h = 0; h < a.heads; ++h)
      for (std::size_t i = 0; i < query_count(a, b); ++i) {
        const auto s = [&](std::size_t j) {
          return attention::visible(a, b, h, i, j) ? attention::score(a, b, h, i, j).s + attention::bias(a, b, h, i, j)
                                                   : kNothing;
        };
        double largest = kNothing, sum = 0;
        for (std::size_t j = 0; j < key_rows(a, b); ++j) largest = std::max(largest, s(j));
        if (largest != kNothing)
          for (std::size_t j = 0; j < key_rows(a, b); ++j) sum += std::exp(s(j) - largest);
        const double lse = largest == kNothing ? kNothing : largest + std::log(sum);
        if (a.lse != nullptr) a.lse[(b * a.heads + h) * a.queries + i] = lse;

        const std::size_t kv_head = h / (a.heads / a.kv_heads);
        T* o = a.o.at(b, i, h);
        std::fill_n(o, a.d_value, T{0});
        for (std::size_t j = 0; j < key_rows(a, b) && lse != kNothing; ++j)
          if (const double p = std::exp(s(j) - lse); p != 0)
            for (std::size_t c = 0; c < a.d_value; ++c) o[c] += static_cast<T>(p * static_cast<double>(a.v.at(b, j, kv_head)[c]));
      }
}

/// dv_j = sum_i p_ij do_i,   dp_ij = do_i . v_j,   ds_ij = p_ij (dp_ij - do_i . o_i),
/// dq_i = sum_j ds_ij slope_ij k_j,   dk_j = sum_i ds_ij slope_ij q_i.
template <class T>
void attention_backward(const BasicAttentionGradArgs<T>& g) {
  const BasicAttentionArgs<T>& a = g.forward;
  attention::clear(g.dq, a, true, a.heads, a.d_head);
  attention::clear(g.dk, a, false, a.kv_heads, a.d_head);
  attention::clear(g.dv, a, false, a.kv_heads, a.d_value);
  for (std::size_t b = 0; b < a.batch; ++b)
    for (std::size_t h = 0; h < a.heads; ++h)
      for (std::size_t i = 0; i < query_count(a, b); ++i) {
        const std::size_t kv_head = h / (a.heads / a.kv_heads);
        const double lse = a.lse[(b * a.heads + h) * a.queries + i];
        const double delta = dot<T>(g.d_o.at(b, i, h), a.o.at(b, i, h), a.d_value);
        if (std::isinf(lse)) continue;
        for (std::size_t j = 0; j < key_rows(a, b); ++j) {
          if (!attention::visible(a, b, h, i, j)) continue;
          const attention::Score at = attention::score(a, b, h, i, j);
          const double p = std::exp(at.s + attention::bias(a, b, h, i, j) - lse);
          const double dp = dot<T>(g.d_o.at(b, i, h), a.v.at(b, j, kv_head), a.d_value);
          const double ds = p * (dp - delta) * at.slope;
          attention::add_scaled<T>(g.dv, b, j, kv_head, p, g.d_o.at(b, i, h), a.d_value);
          attention::add_scaled<T>(g.dq, b, i, h, ds, a.k.at(b, j, kv_head), a.d_head);
          attention::add_scaled<T>(g.dk, b, j, kv_head, ds, a.q.at(b, i, h), a.d_head);
        }
      }
}

/// Each pair (a, b) of a head becomes (a cos - b sin, a sin + b cos), the angle given by position and pair.
template <class T>
void rotary(const RotaryArgs<T>& args) {
  const std::size_t half = args.d_rotary / 2;
  for (std::size_t r = 0; r < args.rows; ++r) {
    const std::size_t at = static_cast<std::size_t>(args.positions[r]) * half;
    for (std::size_t h = 0; h < args.heads; ++h) {
      const T* x = args.x + r * args.x_stride + h * args.d_head;
      T* y = args.y + r * args.y_stride + h * args.d_head;
      for (std::size_t i = 0; i < half; ++i) {
        const std::size_t first = args.adjacent ? 2 * i : i, second = args.adjacent ? 2 * i + 1 : i + half;
        const T cos = args.cos[at + i], sin = args.inverse ? -args.sin[at + i] : args.sin[at + i];
        const T a = x[first], b = x[second];
        y[first] = a * cos - b * sin;
        y[second] = a * sin + b * cos;
      }
      for (std::size_t c = args.d_rotary; c < args.d_head; ++c) y[c] = x[c];
    }
  }
}

/// cos and sin of position * base^(-2 i / d_rotary), computed in double: [positions, d_rotary / 2] each.
template <class T>
void rotary_tables(std::size_t positions, std::size_t d_rotary, double base, T* cos, T* sin) {
  const std::size_t half = d_rotary / 2;
  for (std::size_t p = 0; p < positions; ++p) {
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(p) * std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(d_rotary));
      cos[p * half + i] = static_cast<T>(std::cos(angle));
      sin[p * half + i] = static_cast<T>(std::sin(angle));
    }
  }
}

}  // namespace addnorm::kernels::reference
