// The rule by which a trial is read, and how often it was right. docs/preflight.md says how it was found and has the tables.
#pragma once

#include <cstddef>
#include <limits>
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
/// in the stack that is worse, and no number was anything but finite.
inline constexpr double kLeastSpread = 0.01;
inline constexpr double kPlentyOfGradient = 3;
inline constexpr double kLeastGradient = 3e-3;
inline constexpr double kLeastOfSgd = 0.2;
inline constexpr double kMostGradient = 2e4;
/// In messages a place has no gradient where less than this share of the top's is left.
inline constexpr double kGoneShare = 0.1;

/// The highest unit, from 1, below which less than `share` of the gradient after the last one is left; 0: there is none. Norms by
/// place.
std::size_t gone_below(const std::vector<double>& norms, double share);

enum class Sign : unsigned char {
  healthy,
  vanished,  ///< no gradient reaches the lower units
  exploded,  ///< it grows too much on its way down, or a number is not finite
  alike,     ///< tokens have become alike at the top
  rising,    ///< a second look: the loss is above where it began
  stuck,     ///< a second look: tokens differ, but the loss stays where frequencies alone bring it, or later above the line
  slow,      ///< a second look: all is well, but the loss falls too slowly to be below the line in time
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
  double ahead = 0, line = 0;  ///< a second look: the loss at the horizon, if it falls as it does, and below which it has trained
  bool left_plateau = false;   ///< a second look: the loss is well below what frequencies alone give
  std::string broke_off{};

  bool trains() const { return sign == Sign::healthy; }
  std::string text() const;  ///< one sentence that names the unit
};

/// What a trial is read with besides itself.
struct RuleContext {
  OptimizerKind optimizer = OptimizerKind::adam;
  double plateau = std::numeric_limits<double>::quiet_NaN();  ///< loss of token frequencies alone; NaN: not known
  bool only_last_step = false;                                ///< a longer trial: there was time to recover
};
Reading read_trial(const Trial& trial, const RuleContext& context = {});

/// A first look of some twenty steps settles it where it is twice inside the lines, or hopeless: not finite, or tokens alike
/// beyond recovery. A second look (second_look.h) decides between, and always with SGD, whose pace shows later, and where the
/// loss is more than kAbovePlateau over that of token frequencies alone: healthy, and perhaps too slow.
enum class Standing : unsigned char { passes, open, fails };
bool is_clear(const Reading& first_look);  ///< twice inside the lines of gradient and tokens, whatever the loss
Standing standing_of(const Reading& first_look, const RuleContext& context);
inline constexpr double kClearMargin = 0.3;  ///< powers of ten
inline constexpr double kNoRecovery = 1e-5;  ///< of the spread
inline constexpr double kAbovePlateau = 0.1;

/// Without a skip no stack of so many layers has trained, whatever its first steps looked like.
inline constexpr std::size_t kTooDeepWithoutSkip = 4;

/// (right + 1) / (said + 2), the rule of succession, over the answers that said so where forecasts were held against whole runs:
/// eighty right answers of eighty would not promise that none is ever wrong.
double measured_confidence(Forecast forecast);

/// What sets a run apart from all those, in words that follow "none of them": "was wider than 88"; "": nothing does. `options`
/// are planned and completed.
std::string beyond_measured(const RunOptions& options);

}  // namespace addnorm
