// Pass: what one forward pass has to know besides its input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/core/rng.h"

namespace addnorm {

/// A part of a stack that does not run: for looking into a model, not for training it.
struct Cut {
  std::string stack{};                     ///< by name: "stack", "encoder", "decoder"
  std::vector<std::size_t> bypassed{};     ///< the branches of these units give 0
  std::optional<std::size_t> last_unit{};  ///< the stack ends after this unit, with its usual exit
};

/// Made by the code that runs the model, and the same for all of it. Whether a function runs for the second time is not in here:
/// see replaying() (autograd/tape.h).
struct Pass {
  bool train = false;                ///< dropout and batch statistics
  std::uint64_t seed = 1;            ///< of dropout
  std::uint64_t step = 0;            ///< of the optimizer: another step, another mask
  std::uint64_t first_sequence = 0;  ///< global index of the batch's first sequence: masks do not depend on how a batch is split
  std::uint64_t first_row = 0;       ///< the same in rows of the stream; models set it from first_sequence and their tokens
  bool recompute = false;            ///< layers keep only the stream they begin with; backward computes them again
  std::optional<Cut> cut{};
  std::vector<unsigned char> padding{};  ///< one byte per row of the stream, 1 = padding; empty: none

  /// The key of a mask: (seed, step, site). Rows and columns are counted from it.
  RandomKey key(std::string_view site) const { return RandomKey(seed).with(site).with(step); }
};

}  // namespace addnorm
