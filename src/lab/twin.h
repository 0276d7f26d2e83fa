// A model that is too large for a trial of seconds is tried as a narrower twin of the same depth.
#pragma once

#include <string>

#include "addnorm/train/run_options.h"

namespace addnorm {

struct Twin {
  RunOptions options;
  std::string told{};  ///< "d_model 64 (of 768), 8 x 64 tokens (of 32 x 1024)"; "": nothing had to be made smaller
};
/// `options` are planned and completed. First fewer sequences, then shorter ones (where the data allows it), then a narrower
/// stream with heads of the same width, until a step takes at most so many operations; never fewer layers.
Twin twin_within(const RunOptions& options, double step_flops, bool may_shorten);

}  // namespace addnorm
