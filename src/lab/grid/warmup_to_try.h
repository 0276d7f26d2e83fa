// The warm-up that the lab tries where a row failed without one.
#pragma once

#include <algorithm>
#include <cstddef>

namespace addnorm {

/// 200 steps, or two thirds of a shorter run.
inline std::size_t warmup_to_try(std::size_t steps) { return std::min<std::size_t>(200, steps * 2 / 3); }

}  // namespace addnorm
