// A preflight before its first trial: data opened, options planned, everything refused that can be.
#pragma once

#include "lab/preflight/candidate.h"

namespace addnorm {

struct Prepared {
  std::unique_ptr<RunSource> source{};  ///< null: somebody asked to stop
  RunOptions options{};
  RunData data{};
};
Prepared prepared(const PreflightRequest& request, PreflightObserver* observer);
TrialGround ground_of(const Prepared& prepared, const PreflightRequest& request, PreflightObserver* observer);

}  // namespace addnorm
