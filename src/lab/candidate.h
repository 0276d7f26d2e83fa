// One configuration on trial, over several seeds.
#pragma once

#include <memory>
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
  double step_flops = 0;  ///< most operations of a step
  bool may_shorten = false;

  bool go_on() const { return !observer || observer->go_on(); }
};

/// How a configuration fared. A trial that ends near the line is lengthened (is_open).
struct Tried {
  std::vector<Trial> trials{};
  std::vector<Reading> readings{};
  std::string twin{};
  bool stopped = false;

  std::size_t passed() const;
  bool trains() const { return !readings.empty() && 2 * passed() > readings.size(); }
  /// The reading that speaks for the verdict: of those that agree with it the one with the median margin.
  const Reading& typical() const;
};

/// As many trials as the request says, or as settle the verdict, if it is to be brief.
Tried try_out(const TrialGround& ground, const RunOptions& options, const std::string& what);
/// Whether most of them pass. Ends as soon as that is settled, and where the first one is far outside.
bool passes(const TrialGround& ground, const RunOptions& options, const std::string& what);

}  // namespace addnorm
