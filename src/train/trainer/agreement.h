// What the ranks of a step agree on before anything is updated. The one place where a trainer speaks to others.
#pragma once

#include <cstddef>

#include "addnorm/model/model.h"
#include "addnorm/train/communicator.h"

namespace addnorm {

/// Of this rank's samples before agree(), of all ranks' after it.
struct StepShare {
  double loss = 0;  ///< mean over the labels
  std::size_t labels = 0;
  std::size_t tokens = 0;
  double flops = 0;
  bool bad_parameter = false;  ///< some parameter is not finite, so the guard's verdict is the same on all ranks
  bool stop = false;           ///< this is to be the last step
  bool failed = false;         ///< something was thrown: then nothing else is agreed on
};

/// What ranks cannot do together is a UsageError: a batch that they cannot share equally, running statistics.
void check_ranks(const Communicator& ranks, Model& model, std::size_t batch_size);

/// The gradients in the model, means over this rank's labels, become the means over all ranks'. A parameter that some other rank
/// has a gradient of gets one.
void agree(Communicator& ranks, Model& model, StepShare& share);

}  // namespace addnorm
