// Probes: what a linear map can read from vectors, and from a residual stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "addnorm/claims/claim.h"
#include "addnorm/tensor/tensor.h"

namespace addnorm::lab {

/// Share of the variance of the targets [rows, k] that the best linear map with a constant finds in the rows of x [rows, n]:
/// fitted on the even rows with a little ridge, measured on the odd ones; at least 0.
double explained_share(const Tensor& x, const Tensor& targets);

/// How often the class of a row is named right, by the same kind of map to one number per class: fitted on even rows, asked
/// of odd ones.
double probe_accuracy(const Tensor& x, const std::vector<std::size_t>& classes, std::size_t count);

inline constexpr std::size_t kProbedPositions = 16;

/// How often a linear probe names a token's position right in an untrained encoder: from the embeddings, and from the stream
/// after each unit.
std::vector<double> position_accuracy(const ClaimContext& context, std::string_view arrangement, std::size_t layers,
                                      std::uint64_t seed);

}  // namespace addnorm::lab
