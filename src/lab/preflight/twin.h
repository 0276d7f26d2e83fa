// What a trial is run on: the model that was asked for on small batches, or, where that takes too long, a narrower twin of the
// same depth.
#pragma once

#include <string>

#include "addnorm/train/run_options.h"

namespace addnorm {

/// As few tokens in a step as are enough for a verdict, or what was asked for if that is less.
struct BatchLimits {
  std::size_t sequences, tokens_each, tokens;
};
inline constexpr BatchLimits kFewTokens{4, 32, 128};
inline constexpr BatchLimits kUsualTokens{4, 64, 640};

/// Operations of one step.
double step_flops(const RunOptions& options);

struct Twin {
  RunOptions options;
  std::string summary{};  ///< "d_model 64 (of 256) at 4 times the rate"; "": it is the model that was asked for
};
/// `options` are planned and completed. Batches become as small as `limits` say; sequences only where the data lets them be
/// shortened. Where a step still takes more than so many
/// operations, the stream becomes narrower, with heads of the same width; never fewer layers. Weights that are N(0, 0.02^2)
/// whatever the width are drawn larger by the root of the ratio of widths: branches stay as strong. The rate grows by that ratio
/// (Adafactor: its root; SGD: not): a step then changes as much of what a branch gives (docs/preflight.md has the measurement).
Twin twin_within(const RunOptions& options, double step_flops, bool may_shorten, const BatchLimits& limits = kFewTokens);

}  // namespace addnorm
