// The rule by which a trial is read. docs/preflight.md tells how it was found and how often it is right.
#pragma once

#include <cstddef>
#include <string>

#include "addnorm/data/dataset.h"
#include "addnorm/lab/trial.h"

namespace addnorm {

/// A trial trains where tokens still differ at the top, the gradient reached the first unit all the time, and it has not grown
/// beyond all bounds on its way there:
///
///   spread > kLeastSpread    at the last step
///   g > kLeastGradient       at every step that was looked at
///   g < kMostGradient        at the last step
///
/// g = ||dL/dx|| before the first unit over that after the last, spread as in StackRecord, of the top or the output (resi-dual
/// has another stream that goes into it), whichever is larger; of the stack that is worse. A number that is not finite ends the
/// trial, and it does not train.
inline constexpr double kLeastSpread = 0.01;
inline constexpr double kLeastGradient = 1e-3;
inline constexpr double kMostGradient = 1e5;
/// A place has no gradient, for those who are told about it, where less than this share of the top's is left.
inline constexpr double kGoneShare = 0.1;

enum class Sign : unsigned char {
  healthy,
  vanished,  ///< no gradient reaches the lower units
  exploded,  ///< it grows too much on its way down, or a number is not finite
  alike,     ///< tokens have become alike at the top
};

struct Reading {
  Sign sign = Sign::healthy;
  double gradient = 0;         ///< g at the last step
  double least_gradient = 0;   ///< lowest g of all steps
  double spread = 0;           ///< at the top
  double margin = 0;           ///< how far inside the lines, in powers of ten of the quantity that is nearest; negative: outside
  std::size_t units = 0;       ///< of the stack that is worse
  std::size_t gone_below = 0;  ///< no gradient reaches below this unit, counted from 1; 0: it reaches all
  std::string stack{};         ///< its name, in a model that has two
  std::size_t steps = 0;       ///< that the trial had
  double first_loss = 0, last_loss = 0;
  std::string broke_off{};

  bool trains() const { return sign == Sign::healthy; }
  std::string text() const;  ///< one sentence that names the unit
};
Reading read_trial(const Trial& trial);

}  // namespace addnorm
