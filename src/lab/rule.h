// The rule by which a trial is read. docs/preflight.md tells how it was found and how often it is right.
#pragma once

#include <cstddef>
#include <string>

#include "addnorm/data/dataset.h"
#include "addnorm/lab/trial.h"

namespace addnorm {

/// A trial trains where the gradient still reaches the first unit, has not grown beyond all bounds on its way, and tokens still
/// differ at the top:
///
///   kLeastGradient < g < kMostGradient   and   spread > kLeastSpread
///
/// g = ||dL/dx|| before the first unit over that after the last, spread as in StackRecord at the top; of the stack that is worse.
inline constexpr double kLeastGradient = 0.1;
inline constexpr double kMostGradient = 200;
inline constexpr double kLeastSpread = 0.01;

enum class Sign : unsigned char {
  healthy,
  vanished,  ///< no gradient reaches the lower units
  exploded,  ///< it grows too much on its way down, or a number is not finite
  alike,     ///< tokens have become alike at the top
};

struct Reading {
  Sign sign = Sign::healthy;
  double gradient = 0;         ///< g
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
