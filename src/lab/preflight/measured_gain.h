// The skip gain of a model as it is initialised, to stand beside the closed form.
#pragma once

#include <optional>

#include "addnorm/model/model.h"

namespace addnorm {

/// How much of a standard normal input is left at the output of the (first) stack on the skip path alone, with the norms' scales
/// as they are in that pass: RMS of the embedding's component after the exit over that of the input. Nothing for arrangements
/// that are more than a row. A forward pass over 32 tokens, and as many passes over its streams as there are units.
std::optional<double> measured_skip_gain(Model& model, std::uint64_t seed);

}  // namespace addnorm
