// Fused Add & Norm on raw float32 arrays, forward and backward: for programs that only want the kernels.
//
//   sum = a * x + b * dropout(f)
//   y   = norm(sum) * gamma + beta
//
// One pass over memory: x and f are read once, sum and y written once. Every function here checks its arguments and
// throws UsageError (addnorm/core/error.h) naming the function and both shapes; it never computes on arguments that disagree.
//
//   add_layer_norm({.rows = n, .width = d, .x = x, .f = f, .gamma = gamma, .beta = beta, .sum = sum, .y = y});
//
// Precision. The statistics are those of the float32-rounded sum, accumulated in double; y is within 4 ULP of
// max(|y|, 1) of the exact value for |mean| / std up to 1e6. A row of equal values gives exactly beta. A row with a NaN
// or infinity becomes NaN and touches no other row; so does, with eps = 0, a row that does not vary (RMS: of zeros), for
// there IEEE arithmetic says 0 / 0. With no rows or no columns nothing but the sums over rows, all 0, is written.
// The same bits for any number of threads; what belongs to a row also for any split of the rows.
//
// Backward, for dy * gamma of size about 1: what arrives at the sum is within 1e-6 * max(rstd, 1) + 1e-5 * |exact| of the exact
// gradient, rstd being the largest of the call; dx is that times a, df that times b.
// dgamma, dbeta, da and db are sums over rows, in float within blocks of 64 rows and in double across blocks: they err like 64
// additions of their terms, however many rows there are.
//
// Cost. Memory-bound: 16 bytes of traffic per element forward, 16 backward. Scratch for the backward sums over rows is
// kept per calling thread: 1/32 of one input for dgamma and dbeta, at most 5/64 with everything asked for.
//
// Aliasing. Outputs may be the same array as an input (sum == x, y == f, dx == dy, ...) but must share no element otherwise.
// Arrays of one stride may be columns of one wider matrix: x and f the halves of [rows, 2 * width], sum and y too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace addnorm {

/// A factor on one term of the sum: one number, or one per feature. Default: 1.
template <class T>
struct Coefficient {
  T scalar = 1;                    ///< finite
  const T* per_feature = nullptr;  ///< [width]; when given, scalar is ignored

  bool is_one() const { return per_feature == nullptr && scalar == T{1}; }
};

/// Dropout by counter: element (row, column) of f is dropped when random_word(key, first_row + row, column) falls below
/// p * 2^32, else scaled by 1 / (1 - p). Backward regenerates the same mask from the same three values; nothing is stored.
struct DropoutSpec {
  float p = 0;                  ///< 0 <= p < 1; 0 switches dropout off
  std::uint64_t key = 0;        ///< RandomKey::bits(), addnorm/core/rng.h
  std::uint64_t first_row = 0;  ///< global index of row 0, so a batch may be split anywhere
};

/// Where eps stands in RMS normalisation. Inside: 1 / sqrt(mean(x^2) + eps), as everybody writes today. Outside:
/// 1 / (sqrt(mean(x^2)) + eps), as in the original code of Zhang and Sennrich.
enum class EpsPlace { inside_root, outside_root };

/// How results go to memory. Regular stores leave them in cache; streaming stores bypass it, which pays when they
/// are not read soon. Automatic is stores_for(the bytes of this call's arrays): a kernel sees no more than that. A caller who
/// knows how much else is touched before the results are read chooses. The results are the same bits either way.
enum class Stores { automatic, regular, streaming };

/// The stores for a program that touches this many bytes between writing a result and reading it: streaming when that is more
/// than a last-level cache is likely to keep (16 MiB).
Stores stores_for(std::size_t bytes);

/// One fused step. Row r of an array starts at r * its stride (0 stands for width).
template <class T>
struct AddNormArgs {
  std::size_t rows = 0;
  std::size_t width = 0;
  const T* x = nullptr;                 ///< [rows, width]
  const T* f = nullptr;                 ///< [rows, width]; null: sum = a * x
  const T* gamma = nullptr;             ///< [width]; null: 1
  const T* beta = nullptr;              ///< [width]; null: 0. Layer norm and RMS norm alike
  bool gain_is_one_plus_gamma = false;  ///< gain stored as w with gain = 1 + w
  Coefficient<T> a{};
  Coefficient<T> b{};  ///< stays 1 without f
  DropoutSpec dropout{};
  T eps = static_cast<T>(1e-5);
  EpsPlace eps_place = EpsPlace::inside_root;  ///< RMS norm only
  Stores stores = Stores::automatic;
  std::size_t x_stride = 0, f_stride = 0, sum_stride = 0, y_stride = 0;
  T* sum = nullptr;        ///< [rows, width]; null: not wanted
  T* y = nullptr;          ///< [rows, width]; null: not wanted
  double* mean = nullptr;  ///< [rows]; null: not wanted; layer norm only. Double: at |mean| / std = 1e6 a float mean is 2 % off
  T* rstd = nullptr;       ///< [rows]; null: not wanted
};

/// Its gradient. With g = dsum + (norm's gradient of dy): dx = a * g and df = b * mask * g; df may be null or equal dx
/// when a = b = 1 and dropout is off. Sums over rows (dgamma, dbeta, da, db) are written, not added to.
///
/// Needed: dy or dsum, or both. With dy also sum, rstd, for layer norm mean, and gamma if forward had one; with dsum alone none
/// of them is read. x for da, f for db. a, b, dropout and gain_is_one_plus_gamma as they were forward. beta is not needed.
/// eps is in rstd already and is read only by RMS norm with eps outside the root, whose derivative needs the root without it.
template <class T>
struct AddNormGradArgs {
  std::size_t rows = 0;
  std::size_t width = 0;
  const T* dy = nullptr;         ///< gradient arriving at y; null: none
  const T* dsum = nullptr;       ///< gradient arriving at sum; null: none
  const T* sum = nullptr;        ///< what forward wrote (the float32-rounded sum); for a plain norm its x
  const double* mean = nullptr;  ///< layer norm only
  const T* rstd = nullptr;
  const T* gamma = nullptr;
  bool gain_is_one_plus_gamma = false;
  Coefficient<T> a{};
  Coefficient<T> b{};
  DropoutSpec dropout{};
  T eps = static_cast<T>(1e-5);                ///< that of forward; only read with eps outside the root
  EpsPlace eps_place = EpsPlace::inside_root;  ///< RMS norm only
  Stores stores = Stores::automatic;
  const T* x = nullptr;  ///< only read for da
  const T* f = nullptr;  ///< only read for db
  std::size_t dy_stride = 0, dsum_stride = 0, sum_stride = 0, dx_stride = 0, df_stride = 0, x_stride = 0, f_stride = 0;
  T* dx = nullptr;      ///< [rows, width]; null: not wanted
  T* df = nullptr;      ///< [rows, width]; null: not wanted
  T* dgamma = nullptr;  ///< [width]; null: not wanted
  T* dbeta = nullptr;   ///< [width]; null: not wanted
  T* da = nullptr;      ///< [width] when a is per feature, else [1]; null: not wanted
  T* db = nullptr;      ///< [width] when b is per feature, else [1]; null: not wanted
};

using AddNorm = AddNormArgs<float>;
using AddNormGrad = AddNormGradArgs<float>;

/// y = (sum - mean) / sqrt(var + eps) * gamma + beta; var divided by width (biased).
void add_layer_norm(const AddNorm& args);
void add_layer_norm_grad(const AddNormGrad& args);

/// y = sum / sqrt(mean(sum^2) + eps) * gamma + beta; the mean is not subtracted.
void add_rms_norm(const AddNorm& args);
void add_rms_norm_grad(const AddNormGrad& args);

}  // namespace addnorm
