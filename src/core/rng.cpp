#include "addnorm/core/rng.h"

#include <cmath>
#include <numbers>

namespace addnorm {

float uniform_at(RandomKey key, std::uint64_t index) { return to_uniform(random_word(key.bits(), index, 0)); }

float normal_at(RandomKey key, std::uint64_t index) {
  const auto words = philox4x32(key.bits(), {0, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 1});
  const double radius = std::sqrt(-2.0 * std::log((words[0] + 0.5) * 0x1p-32));  // never log(0)
  return static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * words[1] * 0x1p-32));
}

}  // namespace addnorm
