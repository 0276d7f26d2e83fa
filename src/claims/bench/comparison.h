// What runs of several seeds decide: whether a setting trains, whether something helps, and how changes of one model compare.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "claims/bench/small_runs.h"

namespace addnorm::lab {

/// All seeds trained: the setting trains. None: it does not. Anything between decides neither: the setting lies near the line
/// where training stops, and other seeds, or arithmetic that rounds in another way, give another count (see C6). There
/// is no majority: 1 of 3 and 2 of 3 are the same finding.
enum class SeedsTrained : unsigned char { all, none, some };
/// 1 of a seed that trained, else 0.
SeedsTrained seeds_trained(const std::vector<double>& seeds);
/// Of the series under `name` + ", trained".
inline SeedsTrained seeds_trained(const Samples& samples, const std::string& name) {
  return seeds_trained(samples.of(name + ", trained"));
}
inline bool all_train(const Samples& samples, const std::string& name) {
  return seeds_trained(samples, name) == SeedsTrained::all;
}
inline bool none_trains(const Samples& samples, const std::string& name) {
  return seeds_trained(samples, name) == SeedsTrained::none;
}

/// What a help does for runs that need one. A claim that says what helps is not decided where there is nothing to help; one that
/// says that something fails is false where it trains.
enum class Help : unsigned char {
  works,      ///< no seed trains without it, all train with it
  fails,      ///< no seed trains with it
  no_need,    ///< all seeds train without it
  undecided,  ///< seeds disagree, without it or with it
};
/// Names as in samples, and as a reader knows them.
struct NamedRun {
  std::string name;
  std::string shown;
};
Help help(SeedsTrained without, SeedsTrained with);
inline Help help(const Samples& samples, const std::string& without, const std::string& with) {
  return help(seeds_trained(samples, without), seeds_trained(samples, with));
}
/// holds, fails or undecided, with the reason of the last after the text.
ClaimVerdict verdict_on_help(const std::string& text, const Samples& samples, const NamedRun& without, const NamedRun& with);

/// 6 layers, sequences of 32 words, 50 steps of warm-up to 3e-3, 300 steps: the better of the two rates that S49 tries for
/// pre-LN.
SmallRun comparison_run(const ClaimContext& context, std::string_view arrangement);
/// Held-out losses under `name`, one per seed; NaN where a run broke off.
void add_held_out(Samples& samples, const std::string& name, const SmallRun& run, const ClaimContext& context);

/// Losses that differ by less, in nats, count as the same: what "as good as" allows.
inline constexpr double kSameLoss = 0.05;

/// The mean of one series less that of another, with Welch's interval at 95 % over seeds: mean ± margin.
///
/// A difference that is not clear (above, below) is not yet none: that two are alike is said only where the whole interval is
/// small. With fewer than three seeds, or a NaN among them, the margin is NaN and none of these is true.
struct Difference {
  double mean = 0;
  double error = 0;   ///< standard error
  double margin = 0;  ///< t(0.975, nu) standard errors, nu by Welch and Satterthwaite

  bool above() const { return mean > margin; }
  bool below() const { return mean < -margin; }
  bool no_higher(double by = kSameLoss) const { return mean + margin < by; }  ///< all of the interval
  bool no_lower(double by = kSameLoss) const { return mean - margin > -by; }
  bool alike(double by = kSameLoss) const { return no_higher(by) && no_lower(by); }
  bool open() const { return !std::isnan(mean) && !above() && !no_higher(); }  ///< neither worse nor as good, for sure
  std::string text() const;                                                    ///< "0.0614, 95 % interval 0.0181 to 0.105"
};
Difference difference(const Samples& samples, std::string_view of, std::string_view from);
/// Of one series from 0.
Difference difference_from_zero(const Samples& samples, std::string_view of);

/// "pre-ln at 0.003": where a stack at a rate stands in samples.
std::string at_rate(std::string_view stack, double rate, std::string_view what = "");
/// The rate at which the mean of what stands under that name is least. One with a NaN is taken only where there is no other.
double best_rate(const Samples& samples, std::string_view stack, std::span<const double> rates, std::string_view what = "");

}  // namespace addnorm::lab
