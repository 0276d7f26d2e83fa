// The rule by which a trial is read. docs/preflight.md tells how it was found and how often it is right.
#pragma once

#include <cstddef>
#include <string>

#include "addnorm/data/dataset.h"
#include "addnorm/lab/preflight.h"

namespace addnorm {

/// With g = ||dL/dx|| before the first unit over that after the last, and the spread of StackRecord at the top or of the output,
/// whichever is larger (resi-dual has another stream that goes into the output), a trial trains where
///
///   spread > kLeastSpread  or  g > kPlentyOfGradient    at the last step: tokens that are alike come apart again only where
///                                                       plenty of gradient reaches the lower units (norms inside the branch)
///   g > kLeastGradient     at every step that was looked at; with SGD, whose steps are as small as the gradient, kLeastOfSgd
///   g < kMostGradient      at the last step
///
/// in the stack that is worse, and no number was anything but finite. A trial that is_open() goes on to kLongTrialSteps, or until
/// the spread is above kRecoveredSpread; its line is kLeastSpreadLater then.
inline constexpr double kLeastSpread = 0.01;
inline constexpr double kLeastSpreadLater = 0.02;
inline constexpr double kRecoveredSpread = 0.1;
inline constexpr std::size_t kLongTrialSteps = 80;
inline constexpr double kPlentyOfGradient = 3;
inline constexpr double kLeastGradient = 3e-3;
inline constexpr double kLeastOfSgd = 0.2;
inline constexpr double kMostGradient = 2e4;
/// A place has no gradient, for those who are told about it, where less than this share of the top's is left.
inline constexpr double kGoneShare = 0.1;

/// The highest unit, from 1, below which less than `share` of the gradient after the last one is left; 0: there is none. Norms by
/// place.
std::size_t gone_below(const std::vector<double>& norms, double share);

enum class Sign : unsigned char {
  healthy,
  vanished,  ///< no gradient reaches the lower units
  exploded,  ///< it grows too much on its way down, or a number is not finite
  alike,     ///< tokens have become alike at the top
};

struct Reading {
  Sign sign = Sign::healthy;
  double gradient = 0;          ///< g at the last step
  double least_gradient = 0;    ///< lowest g of all steps
  double spread = 0;            ///< at the top
  double margin = 0;            ///< how far inside the lines, in powers of ten of the quantity that is nearest; negative: outside
  std::size_t units = 0;        ///< of the stack that is worse
  std::size_t gone_below = 0;   ///< no gradient reaches below this unit, counted from 1; 0: it reaches all
  std::size_t stack_index = 0;  ///< which that is
  std::string stack{};          ///< its name, in a model that has two
  std::size_t steps = 0;        ///< that the trial had
  double first_loss = 0, last_loss = 0;
  std::string broke_off{};

  bool trains() const { return sign == Sign::healthy; }
  std::string text() const;  ///< one sentence that names the unit
};
/// How often a forecast was right where it was held against whole runs (docs/preflight.md), by what it said and by whether the
/// trials were clear: all of them agree and lie a factor of two or more from every line.
double measured_confidence(Forecast forecast, bool clear);
inline constexpr double kClearMargin = 0.3;  ///< powers of ten

Reading read_trial(const Trial& trial, OptimizerKind optimizer = OptimizerKind::adam);
/// Some twenty steps have not settled it: little gradient reaches the lower units, and the spread is within a factor of 2.5 of
/// its line. Later steps tell, because tokens either come apart again or do not, but only at the rate and batch of the run: not
/// with a warm-up that was squeezed, and not with SGD, where the gradient decides.
bool is_open(const Reading& reading, const TrainerOptions& options);

}  // namespace addnorm
