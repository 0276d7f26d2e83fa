// Whole steps: training a language model, and writing text with it. The models of the bench, and what one call of each does.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "addnorm/model/config.h"

namespace addnorm::bench {

/// A language model with tied head and learned positions, d_ff = 4 width, GELU; and its batch.
struct StepModel {
  std::string name;
  std::size_t layers, width, heads, length, batch, vocab;
  bool post_norm;
  std::string init = kInitOfArrangement;  ///< rule by which weights start

  std::size_t tokens() const { return batch * length; }
};

/// A: 6 layers of 384. B: 24 of 256, post-ln. C: 48 of 64, short sequences: the lab's shape.
const std::vector<StepModel>& step_models();

ModelConfig config_of(const StepModel& model);

/// Learned numbers that take part in products or sums: all but the table of positions.
std::size_t parameters(const StepModel& model);
/// Floating-point operations of one training step, as `addnorm train` counts them (train/model_size.h).
double step_operations(const StepModel& model);

/// Forward, backward and AdamW on one batch.
std::function<void()> train_step(const StepModel& model);
/// A sequence of `length` tokens written one by one, each the likeliest, with the cache of keys and values.
std::function<void()> write_sequence(const StepModel& model);

}  // namespace addnorm::bench
