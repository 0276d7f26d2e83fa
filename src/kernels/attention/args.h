// What the kernels of attention and of the rotary embedding are given. The formulas stand in attention.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace addnorm::kernels {

/// Element (b, t, h, c) of an array of heads lies at data[b * batch + t * row + h * head + c].
///   [B, T, H * D]: batch = T * H * D, row = H * D, head = D.   [B, H, T, D]: batch = H * T * D, row = D, head = T * D.
/// Sequences of unequal length one after another, [rows, H * D]: `first` says at which row each begins.
template <class T>
struct HeadView {
  T* data = nullptr;
  std::size_t batch = 0, row = 0, head = 0;
  const std::size_t* first = nullptr;  ///< [B], in place of batch

  T* at(std::size_t b, std::size_t t, std::size_t h) const {
    return data + (first == nullptr ? b * batch : first[b] * row) + t * row + h * head;
  }
};

/// Element (b, h, i, j) of a mask lies at data[b * batch + h * head + i * row + j]; a stride of 0 repeats. Null data: none.
template <class T>
struct MaskView {
  const T* data = nullptr;
  std::size_t batch = 0, head = 0, row = 0;

  const T* at(std::size_t b, std::size_t h, std::size_t i) const { return data + b * batch + h * head + i * row; }
};

/// T is float, or double for the reference loops.
template <class T>
struct BasicAttentionArgs {
  std::size_t batch = 0, heads = 0, kv_heads = 0;
  std::size_t queries = 0, keys = 0;     ///< lengths of q and of k, v; they may differ
  const std::size_t* lengths = nullptr;  ///< [batch]: of each sequence, of q as of k and v; queries and keys are then the longest
  std::size_t d_head = 0, d_value = 0;   ///< width of a head of q and k, and of v and o
  HeadView<const T> q, k, v;
  HeadView<T> o;          ///< written by forward, read by backward
  double* lse = nullptr;  ///< [batch, heads, queries]; written by forward (null: not kept), read by backward

  T scale = 1;                       ///< usually 1 / sqrt(d_head)
  T softcap = 0;                     ///< 0: none
  bool causal = false;               ///< query i sees keys j <= i + offset
  std::ptrdiff_t causal_offset = 0;  ///< keys - queries aligns the last query with the last key (keys kept from before)
  const std::ptrdiff_t* causal_offsets = nullptr;  ///< [batch], in place of causal_offset
  const std::size_t* key_lengths = nullptr;        ///< [batch]: keys from there on are padding; values above `keys` mean keys
  MaskView<std::uint8_t> mask, key_mask;           ///< nonzero: may be seen. Both hold; key_mask usually has head = row = 0
  MaskView<T> bias;                                ///< added to s; -inf masks

  T* scratch = nullptr;  ///< attention_forward_scratch or attention_backward_scratch elements, on 64 bytes; not for double
};

/// How many queries sequence b has, and how many rows of keys.
template <class T>
std::size_t query_count(const BasicAttentionArgs<T>& a, std::size_t b) {
  return a.lengths == nullptr ? a.queries : a.lengths[b];
}
template <class T>
std::size_t key_rows(const BasicAttentionArgs<T>& a, std::size_t b) {
  return a.lengths == nullptr ? a.keys : a.lengths[b];
}

/// Of all scores and weighted sums, masks left aside; backward has two and a half times as many.
template <class T>
double attention_multiplications(const BasicAttentionArgs<T>& a) {
  return static_cast<double>(a.batch * a.heads) * static_cast<double>(a.queries) * static_cast<double>(a.keys) *
         static_cast<double>(a.d_head + a.d_value);
}

/// Query i of batch b sees keys j <= i + offset, under a causal mask. Beyond [-queries, keys] another offset hides and shows
/// the same keys; there the sums of positions and offset could overflow.
template <class T>
std::ptrdiff_t clamped_offset(const BasicAttentionArgs<T>& a, std::size_t b) {
  const std::ptrdiff_t offset = a.causal_offsets == nullptr ? a.causal_offset : a.causal_offsets[b];
  return std::clamp(offset, -static_cast<std::ptrdiff_t>(a.queries), static_cast<std::ptrdiff_t>(a.keys));
}

/// Gradients are written, not added; null data where one is not wanted. They must not overlap the inputs.
template <class T>
struct BasicAttentionGradArgs {
  BasicAttentionArgs<T> forward;  ///< as given to forward, with its o and lse
  HeadView<const T> d_o;          ///< gradient of o
  HeadView<T> dq, dk, dv;
};

using AttentionArgs = BasicAttentionArgs<float>;
using AttentionGradArgs = BasicAttentionGradArgs<float>;

/// Of the rotary embedding.
template <class T>
struct RotaryArgs {
  std::size_t rows = 0;
  std::size_t heads = 0;
  std::size_t d_head = 0;
  std::size_t d_rotary = 0;  ///< even, <= d_head: the first elements of each head turn, the rest is copied
  const T* x = nullptr;      ///< row r, head h starts at r * x_stride + h * d_head
  std::size_t x_stride = 0;
  const T* cos = nullptr;                   ///< [positions, d_rotary / 2]
  const T* sin = nullptr;                   ///< [positions, d_rotary / 2]
  const std::int32_t* positions = nullptr;  ///< [rows]: which row of the tables
  bool adjacent = true;                     ///< (2i, 2i + 1) turn together, as in the paper; else (i, i + d_rotary / 2)
  bool inverse = false;                     ///< turn back: the gradient of turning forth
  T* y = nullptr;                           ///< like x; may be x
  std::size_t y_stride = 0;
};

}  // namespace addnorm::kernels
