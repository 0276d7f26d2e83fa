// All that the next step depends on: what a snapshot holds besides parameters and optimizer.
#pragma once

#include "addnorm/nn/module.h"
#include "addnorm/train/checkpoint.h"
#include "addnorm/train/guard.h"
#include "addnorm/train/optimizer.h"

namespace addnorm {

struct TrainerState {
  std::int64_t step = 0;          ///< steps done, skipped ones included
  std::uint64_t next_sample = 0;  ///< number of the first sample that was not seen yet
  std::uint64_t labels = 0;       ///< predicted so far
  std::uint64_t rollbacks = 0;
};

/// Tensors "model.PATH" and "optimizer.NAME"; the record holds the numbers above, "optimizer_steps" and "guard".
Snapshot snapshot(Module& model, Optimizer& optimizer, const Guard& guard, const TrainerState& state);
/// All of it, or nothing: a DataError names what is missing, too much, or of another shape.
void restore(const Snapshot& snapshot, Module& model, Optimizer& optimizer, Guard& guard, TrainerState& state);

}  // namespace addnorm
