// A preflight before its first trial: data opened, options planned, everything refused that can be.
#pragma once

#include "lab/preflight/candidate.h"
#include "train/run/prepared_run.h"

namespace addnorm {

/// Of which `source` is null where the observer asked to stop.
PreparedRun prepared(const PreflightRequest& request, PreflightObserver* observer);
TrialGround ground_of(const PreparedRun& prepared, const PreflightRequest& request, PreflightObserver* observer);

}  // namespace addnorm
