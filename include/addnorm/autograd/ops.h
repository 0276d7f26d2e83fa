// Every differentiable op. Shapes are row-major; "rows" are all axes but the last. Each op works in float32 (SIMD
// kernels, several threads) and in float64 (the reference loops; for gradient checks). Inputs share one dtype.
#pragma once

#include "addnorm/autograd/var.h"
#include "addnorm/kernels/add_norm.h"

namespace addnorm {

/// a + b and a * b, element by element; equal shapes.
Var add(const Var& a, const Var& b);
Var mul(const Var& a, const Var& b);

/// Options of a norm over the last axis.
struct NormOptions {
  float eps = 1e-5f;
  bool gain_is_one_plus_gamma = false;         ///< gain = 1 + gamma (Gemma's convention)
  EpsPlace eps_place = EpsPlace::inside_root;  ///< RMS norm only
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

/// A factor of the residual sum: a constant, or a learned Var with one element or one per feature.
struct Factor {
  double constant = 1;  ///< ignored when learned is defined
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

}  // namespace addnorm
