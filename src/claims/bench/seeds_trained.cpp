#include "claims/bench/seeds_trained.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "claims/bench/experiment.h"

namespace addnorm::lab {

SeedsTrained seeds_trained(const std::vector<double>& seeds) {
  const auto all_are = [&](double value) { return std::ranges::count(seeds, value) == std::ssize(seeds); };
  return all_are(0) ? SeedsTrained::none : all_are(1) ? SeedsTrained::all : SeedsTrained::some;
}

Help help(SeedsTrained without, SeedsTrained with) {
  if (with == SeedsTrained::none) return Help::fails;
  if (without == SeedsTrained::all) return Help::no_need;
  return without == SeedsTrained::none && with == SeedsTrained::all ? Help::works : Help::undecided;
}

ClaimVerdict verdict_on_help(const std::string& text, const Samples& samples, const NamedRun& without, const NamedRun& with) {
  switch (help(samples, without.name, with.name)) {
    case Help::works:
      return holds(text);
    case Help::fails:
      return fails(text);
    case Help::no_need:
      return undecided(concat(text, ". Every seed of ", without.shown, " trains too: nothing to test it on"));
    case Help::undecided:
      break;
  }
  const NamedRun& divided = seeds_trained(samples, without.name) == SeedsTrained::some ? without : with;
  return undecided(concat(text, ". Seeds of ", divided.shown, " disagree"));
}

}  // namespace addnorm::lab
