// A trial: what a model looks like at initialisation, and after some twenty real optimizer steps with its warm-up squeezed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "addnorm/probe/record.h"
#include "addnorm/train/run_data.h"
#include "addnorm/train/run_options.h"

namespace addnorm {

struct TrialOptions {
  std::size_t steps = 20;
  std::size_t squeeze = 5;  ///< a warm-up of W steps becomes one of W / squeeze
};

/// One seed of it.
struct Trial {
  std::uint64_t seed = 0;
  ProbeRecord start{};            ///< of the first step
  ProbeRecord after{};            ///< of the last step of the trial
  std::vector<double> losses{};   ///< of each step
  std::string broke_off{};        ///< why it ended early: a loss or gradient that was not finite; "": it did not
  double output_sensitivity = 0;  ///< relative change of the logits under a relative change of 1e-3 of all parameters, over 1e-3
  double one_step_change = 0;     ///< relative change of the logits of a batch by the first update
  double seconds = 0;
};

}  // namespace addnorm
