// How many numbers a model of this config holds and how much arithmetic a step of it is, without making it.
#pragma once

#include "addnorm/data/dataset.h"
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

/// What goes through a model at once, padding included.
struct StepShape {
  std::size_t sequences = 0;
  std::size_t tokens = 0;         ///< of a sequence; of a seq2seq's source
  std::size_t target_tokens = 0;  ///< of a seq2seq's target
};
StepShape shape_of(const Batch& batch);

/// Multiplications and additions of one step over a batch of this shape, by the common count: 6 per weight of the matrix
/// products and token (2 forward, 4 backward), and 12 width per query and key for attention (4 forward, 8 backward), as if
/// nothing were masked. A causal kernel has half of the second to do; what is computed again is counted once. Norms, biases added
/// to rows and the optimizer are left out, but for the biases of maps, which count as weights.
double flops_per_step(const ModelConfig& completed, const StepShape& shape);

}  // namespace addnorm
