// What the residual stream of an untrained encoder still knows of positions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "addnorm/claims/claim.h"

namespace addnorm::lab {

inline constexpr std::size_t kProbedPositions = 16;

/// How often a linear probe names a token's position right: from the embeddings, and from the stream after each unit.
std::vector<double> position_accuracy(const ClaimContext& context, std::string_view arrangement, std::size_t layers,
                                      std::uint64_t seed);

}  // namespace addnorm::lab
