// All that the next step depends on: what a snapshot holds besides parameters and optimizer.
#pragma once

#include <functional>

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

/// Where a state comes from: memory, or a file that is read tensor by tensor.
struct SavedState {
  std::int64_t step = 0;
  std::string record{};
  std::size_t tensors = 0;
  /// Shape and type as a person reads them; empty: there is no such tensor.
  std::function<std::string(const std::string& name)> kind{};
  std::function<Tensor(const std::string& name)> read{};
};
/// They refer to their arguments.
SavedState saved_state(const Snapshot& snapshot);
SavedState saved_state(const CheckpointFile& file, const std::string& record);

/// Everything is looked at before anything is changed: a DataError names what is missing, too much, or of another shape. `whole`
/// is false while tensors are written, and stays so if one of them cannot be read.
void restore(const SavedState& saved, Module& model, Optimizer& optimizer, Guard& guard, TrainerState& state, bool& whole);

}  // namespace addnorm
