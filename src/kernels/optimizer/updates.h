// Optimizer updates over flat arrays, and over the pieces of many parameters at once. Clipping is gradient_scale: no pass of its
// own.
//
// Memory-bound: Adam reads 4 and writes 3 floats per element in one pass. Element by element, so the same bits for any
// number of threads and for any cut into pieces. A moment below 1.2e-38 in size is stored as 0: left alone, the first moment of a
// parameter without gradients stays denormal for ever and makes every later step slow. A NaN gradient makes its parameter NaN.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/optimizer/args.h"
#include "kernels/reference/optimizer_adafactor.h"
#include "kernels/reference/optimizer_updates.h"

namespace addnorm::kernels {

/// One step of Adam, AdamW or RAdam on parameters p with gradients g and moments m, v, all [n]. The formula, that of
/// torch.optim, is in the reference; each parameter is rounded once per step.
void adam(const float* g, const AdamSettings& settings, std::size_t n, float* p, float* m, float* v);
/// The same on the calling thread, a piece of group k by groups[k].
void adam(std::span<const UpdatePiece<float>> pieces, const reference::AdamFactors* groups);

/// One step of SGD with momentum, Nesterov or plain; velocity [n] starts as 0 and may be null when momentum is 0.
void sgd(const float* g, const SgdSettings& settings, std::size_t n, float* p, float* velocity);
void sgd(std::span<const UpdatePiece<float>> pieces, const SgdSettings* groups);

inline void adam(const double* g, const AdamSettings& settings, std::size_t n, double* p, double* m, double* v) {
  reference::adam(g, settings, n, p, m, v);
}
inline void adam(std::span<const UpdatePiece<double>> pieces, const reference::AdamFactors* groups) {
  for (const auto& piece : pieces) reference::adam(piece.g, groups[piece.group], piece.n, piece.p, piece.m, piece.v);
}
inline void sgd(const double* g, const SgdSettings& settings, std::size_t n, double* p, double* velocity) {
  reference::sgd(g, settings, n, p, velocity);
}
inline void sgd(std::span<const UpdatePiece<double>> pieces, const SgdSettings* groups) {
  for (const auto& piece : pieces) reference::sgd(piece.g, groups[piece.group], piece.n, piece.p, piece.m);
}

// Adafactor in parts, each over some rows of one matrix [., width] on the calling thread. A vector is one row. The formula, and
// all of it in double, is in the reference; three passes over the gradient, two over the parameters, no array of their size.

/// Sum of the squares of x [n], in double.
double squares(const float* x, std::size_t n);
/// of_rows[r] and of_columns[c]: sums of the squares of g, in double.
void square_sums(const float* g, std::size_t rows, std::size_t width, double* of_rows, double* of_columns);

/// v += gain ((scale g)^2 - v).
void follow_squares(const float* g, double gain, double scale, std::size_t n, float* v);

/// Sum of g^2 / max(V, least), in double; V = row[r] column[c], where a null row is 1.
double update_squares(const float* g, const float* row, const float* column, double least, std::size_t rows, std::size_t width);

/// p -= shrink p + step_size g / sqrt(max(V, least)).
void adafactor_update(const float* g, const float* row, const float* column, double least, double shrink, double step_size,
                      std::size_t rows, std::size_t width, float* p);

}  // namespace addnorm::kernels
