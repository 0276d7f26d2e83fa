// Every differentiable op; at the end the product with a packed weight, which makes no graph. Shapes are row-major; "rows" are
// all axes but the last. Each op works in float32 (SIMD kernels, several threads) and in float64 (the reference loops; for
// gradient checks). Inputs share one dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "addnorm/autograd/var.h"
#include "addnorm/core/rng.h"
#include "addnorm/kernels/add_norm.h"

namespace addnorm {

/// a + b, a - b and a * b, element by element; equal shapes.
Var add(const Var& a, const Var& b);
Var sub(const Var& a, const Var& b);
Var mul(const Var& a, const Var& b);

/// Options of a norm over the last axis.
struct NormOptions {
  float eps = 1e-5f;
  bool gain_is_one_plus_gamma = false;         ///< gain = 1 + gamma (Gemma's convention)
  EpsPlace eps_place = EpsPlace::inside_root;  ///< RMS norm only; layer norm refuses another
};

/// Layer normalisation over the last axis.
///
///   y = (x - mean) * rstd * gamma + beta,   rstd = 1 / sqrt(var + eps),  var divided by n (biased)
///
/// x [..., n], gamma [n], beta [n] -> y with the shape of x; gamma and beta may each be Var() for none. Statistics are
/// accumulated in double; y is within 4 ULP of max(|y|, 1) for |mean| / std up to 1e6. Differentiable in x, gamma, beta;
/// keeps x, mean (double) and rstd per row.
Var layer_norm(const Var& x, const Var& gamma, const Var& beta, const NormOptions& options = {});

/// RMS normalisation: y = x / sqrt(mean(x^2) + eps) * gamma (or x / (sqrt(mean(x^2)) + eps)); gamma may be Var().
Var rms_norm(const Var& x, const Var& gamma, const NormOptions& options = {});

/// pRMSNorm (Zhang and Sennrich 2019): the same with the mean of x^2 taken over the first `measured` features of each row.
Var partial_rms_norm(const Var& x, const Var& gamma, std::size_t measured, const NormOptions& options = {});

/// A factor of the residual sum: a constant, or a learned Var with one element or one per feature.
struct Factor {
  double constant = 1;  ///< finite, in float32 too; ignored when learned is defined
  Var learned{};
};

struct AddNormOptions : NormOptions {
  Factor a{};             ///< on x
  Factor b{};             ///< on f
  DropoutSpec dropout{};  ///< on f, before b
};

struct SumAndNormed {
  Var sum;
  Var y;
};

/// The fused residual step, one pass over memory: sum = a * x + b * dropout(f), y = norm(sum). The same bits as add
/// followed by layer_norm. Differentiable in x, f, gamma, beta and learned a, b, through both outputs; keeps the sum
/// (and x, f only for a learned a, b).
SumAndNormed add_layer_norm(const Var& x, const Var& f, const Var& gamma, const Var& beta, const AddNormOptions& options = {});
SumAndNormed add_rms_norm(const Var& x, const Var& f, const Var& gamma, const AddNormOptions& options = {});

/// Activations, element by element, any shape. All keep x for backward. Within 4 ulp of exact over the whole range, tails
/// for x << 0 included; NaN stays NaN; gelu and silu of -infinity are 0; the slope of relu at 0 is 0.
///
///   gelu  x Phi(x), or its older form x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which GPT-2 was trained with
///   relu  max(x, 0)        silu  x sigmoid(x)        sigmoid  1 / (1 + e^-x)
enum class GeluForm { exact, tanh };
Var gelu(const Var& x, GeluForm form = GeluForm::exact);
Var relu(const Var& x);
Var silu(const Var& x);
Var sigmoid(const Var& x);
Var tanh(const Var& x);

/// silu(a) * b: a and b of one shape, or the two halves of the last axis of ab [..., 2n] -> [..., n].
Var swiglu(const Var& a, const Var& b);
Var swiglu(const Var& ab);

/// Over the last axis of x [..., n]: e^(x - max) / sum e^(x - max), and its logarithm. Logits of any size and -infinity are
/// fine; a row that holds a NaN or +infinity, or nothing but -infinity, becomes NaN. Both keep y for backward.
Var softmax(const Var& x);
Var log_softmax(const Var& x);

enum class Reduction { mean, sum, none };

struct CrossEntropyOptions {
  std::int32_t ignore_index = -100;  ///< rows with this target have no loss and no gradient
  double label_smoothing = 0;        ///< 0 ... 1: this share of the target's weight is spread evenly over all classes
  Tensor class_weights{};            ///< [classes], >= 0; undefined: all 1
  Reduction reduction = Reduction::mean;
};

/// Softmax and negative log-likelihood in one: logits [..., classes], one target per row. With w the class weights, s the
/// smoothing, C classes:
///
///   loss_r = (1 - s) w_t (-log p_t) + s / C * sum_c w_c (-log p_c),   p = softmax(logits_r),   t = targets[r]
///
/// none: the losses, without the last axis. sum: their sum. mean: their sum over the sum of w_t of the rows that count; 0,
/// with gradient 0, when no row counts. Summed in double in row order. A target outside [0, C) that is not the ignore index is
/// a UsageError. The gradient is computed in the same pass and kept in place of the logits.
Var cross_entropy(const Var& logits, std::span<const std::int32_t> targets, const CrossEntropyOptions& options = {});

/// Rows of a table: table [vocabulary, width], n ids -> [n, width]. The ids are copied. An id outside the table is a
/// UsageError that names its position. The gradient of the table is dense; repeated ids are added in their order.
Var embedding(const Var& table, std::span<const std::int32_t> ids);

/// cos and sin of position * base^(-2 i / d_rotary), [positions, d_rotary / 2] each, computed in double.
struct RotaryTables {
  Tensor cos;
  Tensor sin;
};
RotaryTables rotary_tables(std::size_t positions, std::size_t d_rotary, double base = 10000, DType dtype = DType::f32);

/// Which elements of a head turn together: neighbours (2i, 2i + 1), as in the paper and llama2.c; or i and i + d_rotary / 2,
/// as in GPT-NeoX and Hugging Face's Llama.
enum class RotaryPairs { adjacent, halves };

/// Rotary position embedding: x [..., heads, d_head], one position for all heads of a row. Each pair (a, b) becomes
/// (a cos - b sin, a sin + b cos). The first d_rotary elements of each head turn, the others stay. The gradient turns back.
Var rotary(const Var& x, const RotaryTables& tables, std::span<const std::int32_t> positions,
           RotaryPairs pairs = RotaryPairs::adjacent);

/// x [..., n] + bias [n], the same row added everywhere. The bias gradient sums over rows: float within 64 rows, double
/// across them, the same bits for any number of threads.
Var add_bias(const Var& x, const Var& bias);

/// Dropout by counter: element (row, column) is 0 when random_word(key, first_row + row, column) falls below p * 2^32, else
/// divided by 1 - p. Rows are all axes but the last; first_row is the global index of row 0. 0 <= p < 1; p = 0 gives x itself.
/// Nothing is kept: backward draws the same words again.
Var dropout(const Var& x, float p, RandomKey key, std::uint64_t first_row = 0);

// Products with what is smaller than x. Gradients of s and v are summed in double over fixed blocks.

Var scale(const Var& x, double factor);      ///< factor * x; a factor that is not finite in the dtype of x is refused
Var mul_scalar(const Var& x, const Var& s);  ///< s * x, s a Var with one element (ReZero, SkipInit)
Var mul_row(const Var& x, const Var& v);     ///< every row of x [..., n] times v [n], element by element (LayerScale)

// Shape. An axis is counted from the front (0, 1, ...) or from the back (-1, -2, ...).

Var reshape(const Var& x, const Shape& shape);                   ///< as many elements; shares the buffer of x
Var concat(const std::vector<Var>& parts, std::ptrdiff_t axis);  ///< parts agree in every other axis
/// Copies of the parts along an axis; sizes add up to it.
std::vector<Var> split(const Var& x, const std::vector<std::size_t>& sizes, std::ptrdiff_t axis);

/// All elements, summed in double over fixed blocks, to a scalar (rank 0).
Var sum(const Var& x);
Var mean(const Var& x);

/// The mean row of each run of rows: x [..., n], whose rows (all axes but the last) are cut into consecutive
/// runs of these lengths, -> [runs, n]. Summed as add_bias sums its gradient. Lengths are at least 1 and add up to the rows of x.
Var segment_means(const Var& x, const std::vector<std::size_t>& lengths);

/// sum over k of weights[k] * xs[k]; the xs have one shape, weights [number of xs]. One pass over memory, backward too: how
/// DLCL and DenseFormer mix earlier layers. The gradient of the weights is summed in double over fixed blocks.
Var weighted_sum(const std::vector<Var>& xs, const Var& weights);

// Norms. Lengths and statistics are computed in double.

/// Each row scaled to length 1: x / max(||x||, eps), over the last axis. Where ||x|| < eps it is x / eps, and the gradient
/// is that of a linear function. A row of zeros stays zero, with eps = 0 too.
Var l2_norm(const Var& x, float eps = 1e-12f);

/// ScaleNorm (Nguyen and Salazar 2019): g * x / max(||x||, eps), g one learned number, usually started at sqrt(width).
/// With gain_is_one_plus_g the stored g stands for 1 + g.
Var scale_norm(const Var& x, const Var& g, float eps = 1e-5f, bool gain_is_one_plus_g = false);

/// Dynamic Tanh (Zhu et al. 2025), which takes the place of a norm:  gamma * tanh(alpha * x) + beta.
/// x [..., n], alpha one learned number (often started at 0.5), gamma and beta [n], each may be undefined (1 and 0). With
/// gain_is_one_plus_gamma the stored gamma stands for 1 + gamma. Keeps x. Not scale-invariant: it saturates.
Var dyt(const Var& x, const Var& alpha, const Var& gamma, const Var& beta, bool gain_is_one_plus_gamma = false);

struct BatchNormOptions {
  float eps = 1e-5f;
  float momentum = 0.1f;                ///< share of the new batch in the running statistics
  bool train = true;                    ///< false: normalise with the running statistics
  bool replay = false;                  ///< computed before: leave the running statistics alone. Inside recompute that is known
  bool gain_is_one_plus_gamma = false;  ///< gain stored as w with gain = 1 + w
};

/// Batch normalisation of x [..., n] per feature, over all rows:  y = (x - mean) / sqrt(var + eps) * gamma + beta.
///
/// gamma, beta [n], each may be undefined (1 and 0). Training takes mean and biased variance of the batch and moves
/// running_mean, running_var [n] in place towards it, the variance there divided by count - 1 (with one row it stays). They
/// share no memory with each other, x, gamma or beta.
/// padding marks rows (all axes but the last) that do not count with a value other than 0; empty: all count. Such a row takes
/// no part in the statistics and is itself normalised with those of the others, and gradients say exactly that.
/// One row that counts gives beta. When no row counts, training uses the running statistics, like eval.
/// Differentiable in x, gamma, beta; keeps x and three float64 values per feature.
Var batch_norm(const Var& x, const Var& gamma, const Var& beta, Tensor& running_mean, Tensor& running_var,
               const BatchNormOptions& options = {}, std::span<const unsigned char> padding = {});

/// Matrix product: a [..., k] times b [k, n] -> [..., n]; all axes of a but the last are rows. Differentiable in both.
Var matmul(const Var& a, const Var& b);

/// What linear applies to its sum before it leaves the cache.
enum class LinearActivation : unsigned char { none, relu, gelu, gelu_tanh, silu };

/// Affine map, optionally with an activation in the same pass: y = f(x W^T + bias).
///
/// x [..., in], w [out, in] as checkpoints store it, bias [out] or Var() for none -> y [..., out]. The same bits as the
/// activation op applied to the plain map, and for any number of threads; rounding of the sums is that of float32 over
/// `in` terms. Differentiable in x, w, bias; dbias sums rows in fixed blocks. Keeps w, x (or what an
/// activation or norm x was computed from), and the argument of its own activation, not y. 2 rows * in * out operations forward,
/// twice that backward.
Var linear(const Var& x, const Var& w, const Var& bias = Var(), LinearActivation activation = LinearActivation::none);

/// Which keys a query may see: nonzero = may. Row-major, one byte per element.
struct AttentionMask {
  Shape shape;
  std::vector<std::uint8_t> values;
};

struct AttentionOptions {
  std::size_t heads = 1;
  std::size_t kv_heads = 0;       ///< heads of k and v, a divisor of heads (grouped-query attention); 0: as many as heads
  std::optional<double> scale{};  ///< default 1 / sqrt(d_head)
  double softcap = 0;             ///< scores become softcap * tanh(score / softcap) before masks; 0: they do not
  bool causal = false;            ///< query i sees keys j <= i + causal_offset
  std::optional<std::ptrdiff_t> causal_offset{};    ///< default Tk - Tq: the last query sees every key
  std::vector<std::size_t> key_lengths{};           ///< [B]: keys from there on are padding, and never read
  std::shared_ptr<const AttentionMask> key_mask{};  ///< [B or 1, Tk]
  std::shared_ptr<const AttentionMask> mask{};      ///< [B or 1, heads or 1, Tq or 1, Tk]
  Tensor bias{};  ///< the same shape, added to the scores; -inf hides. A constant: it gets no gradient
  /// B is 1, Tq = Tk, and the tokens are those of several sequences one after another, of these lengths: a token sees its own
  /// sequence only, with the bits it has there alone. Not with key_lengths, masks, bias or causal_offset.
  std::vector<std::size_t> joined{};
};

/// Multi-head scaled-dot-product attention.
///
///   o_i = sum_j p_ij v_j,   p_i = softmax_j(scale * q_i . k_j + bias_ij) over the keys that query i may see
///
/// q [B, Tq, heads * d_head], k [B, Tk, kv_heads * d_head], v [B, Tk, kv_heads * d_value] -> [B, Tq, heads * d_value].
/// A query that may see no key gets 0 and passes no gradient back. Memory grows with Tq + Tk, never with their product:
/// backward computes p again from the log-sum-exp (one double per query and head), which is kept with q, k, v and o.
/// Keys at or beyond key_lengths[b] are never read; every other key must be finite, masked or not.
Var attention(const Var& q, const Var& k, const Var& v, const AttentionOptions& options);
/// The same, read in place from one projection qkv [B, T, (heads + 2 * kv_heads) * d_head]: all heads of q, then of k, then of v.
Var attention_packed(const Var& qkv, const AttentionOptions& options);

// Products for models that only compute: a weight in the form that they read fastest.

/// W [out, in], laid out for products (kernels/gemm/packed.h). Packing cannot be undone: to train or save a weight,
/// keep it unpacked.
class PackedWeight {
 public:
  PackedWeight() = default;  ///< undefined
  /// w [out, in], float32. Its memory is taken over where `out` is a multiple of a panel's columns (16, 24 or 32, by the machine)
  /// and no other Tensor holds it (move it here): packing then needs memory for that many rows only. Otherwise it is copied.
  explicit PackedWeight(Tensor w);

  bool defined() const { return panels_.defined(); }
  std::size_t out() const { return out_; }
  std::size_t in() const { return in_; }

 private:
  friend Tensor packed_linear(const Tensor& x, const PackedWeight& w, const Tensor& bias, LinearActivation activation);

  Tensor panels_;
  std::size_t out_ = 0, in_ = 0;
};

/// y = f(x W^T + bias), without a graph: x [..., in] float32, bias [out] or Tensor() for none -> [..., out].
///
/// A row of y depends on its row of x alone: the same bits alone, in any batch and for any number of threads. They are not those
/// of linear(), which sums in another order.
Tensor packed_linear(const Tensor& x, const PackedWeight& w, const Tensor& bias = Tensor(),
                     LinearActivation activation = LinearActivation::none);

}  // namespace addnorm
