// What it decides that k of n seeds trained: one rule for every claim.
#pragma once

#include <string>
#include <vector>

#include "addnorm/claims/claim.h"

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

}  // namespace addnorm::lab
