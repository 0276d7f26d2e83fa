// How much memory training will take, estimated before anything is allocated.
#pragma once

#include <cstddef>
#include <string>

#include "addnorm/core/machine.h"
#include "addnorm/model/config.h"
#include "addnorm/train/optimizer.h"

namespace addnorm {

struct MemoryOptions {
  OptimizerKind optimizer = OptimizerKind::adamw;
  std::size_t batch_size = 1;  ///< sequences that go through the model at once
  std::size_t tokens = 0;      ///< per sequence; 0: the model's seq_len
  std::size_t accumulate = 1;  ///< parts of a batch, one after the other
  bool recompute = false;      ///< layers keep only what they begin with
};

/// Bytes of tensors at the fullest moment of a step, by what they are for. In double: what does not fit in memory may not fit in
/// 64 bits either. tests/train/trainer/memory_test.cpp holds it to what the arena counts: 5 % below to 35 % above for every kind
/// of model.
struct MemoryEstimate {
  double parameters = 0;  ///< numbers, not bytes
  double weights = 0;     ///< with tables that are not learned
  double gradients = 0;
  double optimizer = 0;    ///< its state
  double activations = 0;  ///< what the layers keep for backward
  double logits = 0;       ///< and their gradient
  double temporary = 0;    ///< of the one layer through which backward goes
  double bytes =
      0;            ///< at once: gradients come while activations go, so this is less than the sum unless batches are accumulated
  double data = 0;  ///< samples that are in memory already, and so not among those bytes
  ModelConfig config{};  ///< completed
  MemoryOptions options{};

  double needed() const;  ///< by the process: with what the arena rounds up, and the program itself
  /// "weights 42 MiB, gradients 42 MiB, optimizer 84 MiB, activations 310 MiB, logits 16 MiB, temporary 30 MiB: 482 MiB at once"
  std::string text() const;
};

MemoryEstimate estimate_memory(const ModelConfig& config, const MemoryOptions& options);

/// An Error when it does not fit, with what is needed, what there is and who says so, and which batch size would fit, alone
/// or with recompute.
void require_fits(const MemoryEstimate& estimate, const MemoryLimit& available, const FieldWords& words = nullptr);

}  // namespace addnorm
