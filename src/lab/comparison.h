// Changes of one model compared: the bench that they share, and differences against the noise between seeds.
#pragma once

#include "lab/small_runs.h"

namespace addnorm::lab {

/// 6 layers, sequences of 32 words, 50 steps of warm-up to 3e-3, 300 steps: the better of the two rates that S49 tries for
/// pre-LN.
SmallRun comparison_run(std::string_view arrangement);
/// Held-out losses under `name`, one per seed; NaN where a run broke off.
void add_held_out(Samples& samples, const std::string& name, const SmallRun& run, const ClaimContext& context);

/// The mean of one series less that of another, with its standard error over seeds. A NaN is neither above nor below.
struct Difference {
  double mean = 0;
  double error = 0;

  bool above(double errors = 2) const { return mean > errors * error; }
  bool below(double errors = 2) const { return mean < -errors * error; }
  bool within(double errors = 2) const { return mean <= errors * error && mean >= -errors * error; }
  std::string text() const;  ///< "0.0614, standard error 0.0151"
};
Difference difference(const Samples& samples, std::string_view of, std::string_view from);

}  // namespace addnorm::lab
