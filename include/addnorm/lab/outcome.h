// What became of a training run: the one place where "trained" is defined.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "addnorm/data/dataset.h"

namespace addnorm {

/// How a run of some hundred steps went, in the words of the lab.
enum class Outcome : unsigned char {
  trained,    ///< its last losses are below the line
  slow,       ///< above the line, but it has left the plateau and the loss still falls
  stuck,      ///< it learned how often each token occurs, or not even that
  diverged,   ///< it was below the line and ended above it, worse by more than chance; or a number was not finite
  too_short,  ///< none of these, after so few steps that those who will train look the same
};
const char* name_of(Outcome outcome);  ///< "trained", "slow", "stuck", "diverged", "too short to tell"

/// Losses are the mean over this many steps.
inline constexpr std::size_t kOutcomeWindow = 20;

/// A run that did not train has failed only where those that will train look otherwise by then; one that has neither trained nor
/// diverged after fewer steps than these is too short to tell. Steps of a linear warm-up count by their share of the full rate,
///
///   n of n steps without warm-up;   n - W/2 with one of W steps, n^2 / (2 W) in the middle of it
///
/// In the lab without options, rows that train get below the line after 38 to 85 steps without warm-up (post-ln and norm-skip
/// from GPT-2's weights with the larger embeddings after 101 to 118: slow until then), and after 164 to 186 with one of 200,
/// which is 67 to 86 by this count.
inline constexpr double kStepsToTell = 100;
double steps_at_full_rate(std::size_t steps, std::size_t warmup);

/// Below which mean of the last losses a run counts as trained: three quarters of the way from the unigram to the bigram loss,
///
///   line = unigram - 3/4 (unigram - bigram)
///
/// Data without a bigram (pairs, classes) have the floor in its place, or 0: the line is then half of the way to it, because no
/// simple predictor lies between. Where there is no unigram either, uniform stands in its place. It is a matter of the data
/// alone: RunData::baselines has what is computed or counted of them, label_baselines() counts those of others. A run's own
/// losses have no part in it, because the first one says how large its logits began. NaN where nothing is known of the data.
double trained_line(const Baselines& baselines);
/// What a model knows that has learned nothing but frequencies.
double plateau(const Baselines& baselines);

struct Judged {
  Outcome outcome = Outcome::stuck;
  double loss = 0;               ///< mean of the last losses
  double best = 0;               ///< lowest mean over a window
  std::int64_t diverged_at = 0;  ///< first step from which on it was worse than its best by more than chance; 0: it was not
  bool broke_off = false;        ///< it ended early, by a number that was not finite
  std::string text() const;      ///< "trained, 2.03", "diverged at step 214 (2.05 before)"
};
/// `losses` of step 1, 2, ... (nats per label). `broke_off`: the run ended early because a number was not finite. `warmup`: its
/// steps. A UsageError where the baselines have neither unigram nor uniform.
///
/// "More than chance": a mean over a window is above the lowest one by more than six of its deviations,
///
///   deviation = median |l_(i+1) - l_i| / (0.6745 sqrt(2)) / sqrt(kOutcomeWindow)
///
/// that is by the noise of single losses, as if they were normal and independent: neighbours know nothing of a trend, and a
/// median nothing of a jump. A run that hovers at the line is therefore slow or stuck, not diverged.
Judged judge(std::span<const double> losses, const Baselines& baselines, bool broke_off = false, std::size_t warmup = 0);

}  // namespace addnorm
