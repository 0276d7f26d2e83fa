// How many numbers a model of this config holds, without making it.
#pragma once

#include "addnorm/model/config.h"

namespace addnorm {

/// Counts in double: what a file claims may not fit in 64 bits. All of a completed config.
struct ModelSize {
  double tables = 0;   ///< tokens and positions, learned
  double fixed = 0;    ///< sinusoidal positions, angles of rotary ones: neither learned nor saved
  double encoder = 0;  ///< matrices and biases of the only stack, or of the encoder
  double decoder = 0;  ///< of a seq2seq's decoder
  double head = 0;     ///< without a tied table; with a classifier's or mlp's maps
  double norms = 0;    ///< gains and biases of two norms per unit: more than most arrangements have
  double matrices() const { return tables + encoder + decoder + head; }
  double parameters() const { return matrices() + norms; }
};
ModelSize size_of(const ModelConfig& completed);

}  // namespace addnorm
