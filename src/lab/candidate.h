// One configuration on trial: a first look over several seeds, and a second one where that does not settle it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/lab/preflight.h"
#include "lab/rule.h"

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
/// Whether the first look alone says that it trains: most seeds are far inside the lines. Ends as soon as that is settled, and
/// where the first one is far outside. With SGD, where a first look settles nothing, try_out.
bool passes(const TrialGround& ground, const RunOptions& options, const std::string& what);

}  // namespace addnorm
