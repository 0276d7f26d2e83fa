// One configuration on trial: prepared as a run is, a first look over several seeds, and a second one where that does not settle
// it; by a narrower twin where the model is too large.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/lab/preflight.h"
#include "addnorm/train/run_options.h"
#include "lab/preflight/rule.h"
#include "train/run/prepared_run.h"

namespace addnorm {

/// What all trials of one preflight share: the data, and how they are run.
struct TrialGround {
  const RunSource& source;
  const PreflightRequest& request;
  PreflightObserver* observer = nullptr;
  double flops = 0;  ///< most operations of a look, over all its steps and seeds
  bool may_shorten = false;
  std::optional<Baselines> baselines{};

  bool go_on() const { return !observer || observer->go_on(); }
};

/// How a configuration fared.
struct Tried {
  std::vector<Trial> trials{};      ///< of the first look, one per seed
  std::vector<Reading> readings{};  ///< of those
  std::vector<Standing> standings{};
  std::optional<Trial> second{};            ///< with the first seed
  std::optional<Reading> second_reading{};  ///< decides, where there is one
  std::string twin{};
  bool stopped = false;

  std::size_t count(Standing standing) const;
  std::size_t passed() const;  ///< trials of the first look that did
  bool trains() const;
  bool clear() const;  ///< the first look settled it, and its seeds agree
  /// The reading that speaks for the verdict: of the second look, or of those of the first that agree with the verdict the one
  /// with the median margin.
  const Reading& typical() const { return second_reading ? *second_reading : readings[typical_first_look()]; }
  std::size_t typical_first_look() const;  ///< of the first look alone, as an index
};

/// A first look with as many seeds as the request says, or as settle the verdict, if it is to be brief; a second look where most
/// of them do not settle it.
Tried try_out(const TrialGround& ground, const RunOptions& options, const std::string& what);
/// How a change fares, in as little time as that takes.
enum class ChangeResult : unsigned char {
  passes,
  slow,  ///< it is healthy, and would not be below the line in time
  fails,
};
/// Where all is well but for the loss: what a first look of some twenty steps cannot distinguish from an arrangement that begins
/// slowly.
enum class IfSlow : unsigned char { look_again, leave_it };
/// By the first look alone: it passes where most seeds are far inside the lines. Ends as soon as that is settled, and where the
/// first one is far outside. With SGD, which a first look cannot judge, and where all is well but for the loss, a second look
/// decides; leave_it: the latter is slow, without one.
ChangeResult try_change(const TrialGround& ground, const RunOptions& options, const std::string& what,
                        IfSlow if_slow = IfSlow::look_again);
inline bool passes(const TrialGround& ground, const RunOptions& options, const std::string& what) {
  return try_change(ground, options, what) == ChangeResult::passes;
}
/// Nothing breaks in the first look; whether it is quick enough remains to be seen. For searches, whose result must pass.
inline bool is_healthy(const TrialGround& ground, const RunOptions& options, const std::string& what) {
  return try_change(ground, options, what, IfSlow::leave_it) != ChangeResult::fails;
}

/// A preflight before its first trial: data opened, options planned, everything refused that can be. Of it `source` is null where
/// the observer asked to stop.
PreparedRun prepared(const PreflightRequest& request, PreflightObserver* observer);
TrialGround ground_of(const PreparedRun& prepared, const PreflightRequest& request, PreflightObserver* observer);

/// As few tokens in a step as are enough for a verdict, or what was asked for if that is less.
struct BatchLimits {
  std::size_t sequences, tokens_each, tokens;
};
inline constexpr BatchLimits kFewTokens{4, 32, 128};
inline constexpr BatchLimits kUsualTokens{4, 64, 640};

/// Operations of one step.
double step_flops(const RunOptions& options);

/// What a trial is run on: the model that was asked for on small batches, or, where that takes too long, a narrower one of the
/// same depth.
struct Twin {
  RunOptions options;
  std::string summary{};  ///< "d_model 64 (of 256) at 4 times the rate"; "": it is the model that was asked for
};
/// `options` are planned and completed. Batches become as small as `limits` say; sequences only where the data lets them be
/// shortened. Where a step still takes more than so many operations, the stream becomes narrower, with heads of the same width;
/// never fewer layers. Weights that are N(0, 0.02^2) whatever the width are drawn larger by the root of the ratio of widths:
/// branches stay as strong. The rate grows by that ratio (Adafactor: its root; SGD: not): a step then changes as much of what a
/// branch gives (docs/preflight.md has the measurement).
Twin twin_within(const RunOptions& options, double step_flops, bool may_shorten, const BatchLimits& limits = kFewTokens);

}  // namespace addnorm
