// Attention: the multi-head branch, self or cross, with positions, QK-norm and a key/value cache.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "addnorm/nn/linear.h"
#include "addnorm/nn/norm.h"
#include "addnorm/nn/positions.h"

namespace addnorm {

/// Over what QK-norm takes its statistics: each head by itself (HybridNorm), or the whole projection (OLMo-2).
enum class QkNormSpan : unsigned char { head, projection };

struct MultiHeadOptions {
  std::size_t d_model = 0;
  std::size_t heads = 1;
  std::size_t kv_heads = 0;        ///< a divisor of heads (grouped-query attention); 0: as many as heads
  std::size_t d_head = 0;          ///< 0: d_model / heads
  std::size_t d_memory = 0;        ///< cross: width of what keys and values come from; 0: d_model
  bool cross = false;              ///< keys and values from `memory`
  bool causal = false;             ///< a query sees no later key
  bool bias = true;                ///< of all four projections
  std::optional<bool> out_bias{};  ///< of the last one; nothing: as the others
  std::optional<double> scale{};   ///< of the scores; default 1 / sqrt(d_head)
  double softcap = 0;              ///< scores become softcap * tanh(score / softcap); 0: they do not
  std::optional<RotaryOptions> rotary{};
  NormKindOptions qk_norm{.formula = NormFormula::none};
  QkNormSpan qk_norm_span = QkNormSpan::head;
  bool v_norm = false;                                       ///< values too, per head (HybridNorm)
  NormKindOptions inner_norm{.formula = NormFormula::none};  ///< of the heads side by side, before the output projection: sub-ln
  HeadGain head_gain = HeadGain::none;
};

/// Keys and values of the tokens so far, [B, capacity, kv_heads * d_head] each. Decoding appends in place; copies of a cache
/// share their memory.
struct AttentionCache {
  Tensor k;
  Tensor v;
  std::size_t length = 0;

  /// The same for other rows: row i becomes a copy of row from[i] (beams). Costs a copy of the whole capacity.
  void select(std::span<const std::size_t> from);
};

/// What scores are made of: score(t, s) of head h is q_h(t) . k_h(s) times `scale`, then capped. Queries see keys as options say.
struct AttentionScores {
  Tensor q;  ///< [B, T, heads * d_head], normed and turned as they meet the keys
  Tensor k;  ///< [B, Tk, kv_heads * d_head]
  AttentionOptions options;
  double scale;
};

/// What one call sees besides x.
struct AttentionInput {
  Var memory{};                                 ///< cross: [B, Tm, d_memory]
  std::vector<std::size_t> key_lengths{};       ///< [B]: keys from there on are padding; not with a cache of self-attention
  std::vector<std::size_t> joined{};            ///< as AttentionOptions::joined: x [1, T, d_model] of several sequences
  std::shared_ptr<const AttentionMask> mask{};  ///< as AttentionOptions::mask
  std::size_t first_position = 0;   ///< of x's first token, for rotary positions; with a cache it is the cache's length
  AttentionCache* cache = nullptr;  ///< decoding: keys and values are appended to it. Not while gradients are recorded
  std::function<void(const AttentionScores&)> watch{};  ///< gets what the scores are made of; changes no bit
};

///   out = W_o N( g_h * concat_h( softmax(q_h k_h^T * scale + mask) v_h ) ) + b_o,   q = W_q x, k = W_k m, v = W_v m,   m = x or
///   memory
///
/// N and the head gains g are there only where an arrangement asks for them. 4 T d_model^2 operations for the projections and
/// 2 T^2 d_model for scores and sums (half of that when causal), times two each; memory grows with T, not with its square.
///
/// x [B, T, d_model] -> the same shape. q, k and v of self-attention lie in one matrix [(heads + 2 kv_heads) d_head, d_model];
/// cross has q by itself, and k and v together. Norm of q and k first, then rotary positions.
class Attention : public Module {
 public:
  Attention() = default;
  explicit Attention(const MultiHeadOptions& options);

  Var operator()(const Var& x, const AttentionInput& input, const Pass& pass) const;
  /// An empty cache for `batch` sequences of up to `capacity` tokens (cross: filled by the first call, any capacity).
  AttentionCache cache(std::size_t batch, std::size_t capacity) const;
  void visit(Visitor& visitor) override;
  const MultiHeadOptions& options() const { return options_; }

 private:
  struct Heads {
    Var q, k, v;
  };
  Heads project(const Var& x, const AttentionInput& input, const Pass& pass) const;
  Var turned(const Var& x, std::size_t heads, const AttentionInput& input) const;
  Heads remembered(Heads h, AttentionCache& cache) const;
  Var finish(const Var& heads, const Pass& pass) const;

  MultiHeadOptions options_;
  Linear q_, kv_, qkv_;
  Norm q_norm_, k_norm_, v_norm_;
  Norm inner_;
  Var head_gain_;
  Linear out_;
};

}  // namespace addnorm
