// How much of a run is recorded besides its losses. The trainer only carries these options; layer probe does what they say.
#pragma once

#include <cstdint>

namespace addnorm {

enum class ProbeLevel : unsigned char {
  off,
  on,    ///< norms, ratios, gradients and attention of every unit; at most a tenth of the time at the usual interval
  full,  ///< and what takes extra passes: units by-passed, logit lens, dependency, ranks, ...
};

struct ProbeOptions {
  ProbeLevel level = ProbeLevel::off;
  std::int64_t every = 10;  ///< steps between records
};

}  // namespace addnorm
