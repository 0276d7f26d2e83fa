// Softmax and log-softmax over the rows of a matrix, forward and backward, and the cross-entropy of a softmax with targets.
//
//   softmax      y = e^(x - max) / sum e^(x - max)              dx = y (dy - sum(dy y))
//   log_softmax  y = x - max - log(sum e^(x - max))             dx = dy - e^y sum(dy)
//
// Logits of any finite size and -infinity are fine; a term e^(x - max) below 1.2e-38 counts as 0. A row of nothing but
// -infinity, or with a NaN or +infinity, has no softmax: all of it becomes NaN, and no other row changes.
// Sums run in float over 512 elements and in double beyond. Row by row: the same bits for any split and thread count.
// x, y, dy, dx are dense [rows, width]; outputs may be one of the inputs.
#pragma once

#include <cstddef>

#include "kernels/reference/softmax.h"

namespace addnorm::kernels {

void softmax(const float* x, std::size_t rows, std::size_t width, float* y);
void softmax_grad(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx);
void log_softmax(const float* x, std::size_t rows, std::size_t width, float* y);
void log_softmax_grad(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx);

inline void softmax(const double* x, std::size_t rows, std::size_t width, double* y) { reference::softmax(x, rows, width, y); }
inline void softmax_grad(const double* dy, const double* y, std::size_t rows, std::size_t width, double* dx) {
  reference::softmax_grad(dy, y, rows, width, dx);
}
inline void log_softmax(const double* x, std::size_t rows, std::size_t width, double* y) {
  reference::log_softmax(x, rows, width, y);
}
inline void log_softmax_grad(const double* dy, const double* y, std::size_t rows, std::size_t width, double* dx) {
  reference::log_softmax_grad(dy, y, rows, width, dx);
}

/// Softmax and cross-entropy in one pass over the logits: losses and, when wanted, their gradient.
///
///   loss_r      = (1 - s) w_t (-log p_t) + s / C * sum_c w_c (-log p_c),      p = softmax(logits_r), t = targets[r]
///   dlogits_rc  = gradient_scale * (total p_c - own_c),  own_c the weight of class c in loss_r, total their sum
///
/// s is the label smoothing, w the class weights. Losses are computed in double from a float32 sum of exponentials: they
/// keep their digits at logits of +-1e4. p = 0 (a logit of -infinity) costs infinity where it has weight. A row with a NaN
/// or +infinity has a NaN loss and gradient and touches no other row. Targets are trusted: check them first.
/// Cost: logits are read from memory once, then twice from cache; no scratch.
void cross_entropy(const CrossEntropyArgs<float>& args);
inline void cross_entropy(const CrossEntropyArgs<double>& args) { reference::cross_entropy(args); }

/// The sum of class weights over the rows that count: what a mean divides by. 0 when all are ignored.
template <class T>
double target_weight(const CrossEntropyArgs<T>& args) {
  return reference::target_weight(args);
}

}  // namespace addnorm::kernels
