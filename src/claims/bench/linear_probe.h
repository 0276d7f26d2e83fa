// Linear probes: what a linear map can read from vectors.
#pragma once

#include <cstddef>
#include <vector>

#include "addnorm/tensor/tensor.h"

namespace addnorm::lab {

/// Share of the variance of the targets [rows, k] that the best linear map with a constant finds in the rows of x [rows, n]:
/// fitted on the even rows with a little ridge, measured on the odd ones; at least 0.
double explained_share(const Tensor& x, const Tensor& targets);

/// How often the class of a row is named right, by the same kind of map to one number per class: fitted on even rows, told for
/// odd.
double probe_accuracy(const Tensor& x, const std::vector<std::size_t>& classes, std::size_t count);

}  // namespace addnorm::lab
