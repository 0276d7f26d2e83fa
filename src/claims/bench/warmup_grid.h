// The runs that published claims on warm-up share: encoder-decoders of 6 and 6 layers at three rates.
#pragma once

#include <string>

#include "claims/bench/small_runs.h"

namespace addnorm::lab {

inline constexpr double kGridRates[] = {1e-3, 3e-3, 5e-3};
inline constexpr std::int64_t kGridWarmup = 150;  // of 500 steps

/// One kind of run of the grid.
struct GridLine {
  std::string name;
  std::string arrangement = "post-ln";
  OptimizerKind optimizer = OptimizerKind::adam;
  std::int64_t warmup = 0;
  double rate_factor = 1;  ///< on every rate: steps of another optimizer have another unit
  double update_clip = 1;
};

/// "Adam, warm-up at 0.003": where losses of a line stand in samples. The rate is that of the grid, without the factor.
std::string grid_name(const std::string& line, double rate);
/// Losses and shares that trained, at every rate.
void add_line(Samples& samples, const GridLine& line, const ClaimContext& context);
/// "Adam, warm-up: 0.5 ± 0.1 (3 of 3 seeds trained) at 0.001, ..."
std::string line_text(const Samples& samples, const std::string& line);

}  // namespace addnorm::lab
