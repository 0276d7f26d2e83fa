// Softmax and cross-entropy in one pass over the logits: losses and, when wanted, their gradient.
//
//   loss_r      = (1 - s) w_t (-log p_t) + s / C * sum_c w_c (-log p_c),      p = softmax(logits_r), t = targets[r]
//   dlogits_rc  = gradient_scale * (total p_c - own_c),  own_c the weight of class c in loss_r, total their sum
//
// s is the label smoothing, w the class weights. Losses are computed in double from a float32 sum of exponentials: they
// keep their digits at logits of +-1e4. p = 0 (a logit of -infinity) costs infinity where it has weight. A row with a NaN
// or +infinity has a NaN loss and gradient and touches no other row. Targets are trusted: check them first.
// Cost: logits are read from memory once, then twice from cache; no scratch.
#pragma once

#include "kernels/reduce/cross_entropy_args.h"
#include "kernels/reference/cross_entropy.h"

namespace addnorm::kernels {

void cross_entropy(const CrossEntropyArgs<float>& args);
inline void cross_entropy(const CrossEntropyArgs<double>& args) { reference::cross_entropy(args); }

/// The sum of class weights over the rows that count: what a mean divides by. 0 when all are ignored.
template <class T>
double target_weight(const CrossEntropyArgs<T>& args) {
  return reference::target_weight(args);
}

}  // namespace addnorm::kernels
