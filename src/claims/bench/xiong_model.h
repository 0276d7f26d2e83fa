// The simplified Transformer in which Xiong et al. (2020) prove their statements.
#pragma once

#include "claims/bench/experiment.h"

namespace addnorm::lab {

/// Gaussian Xavier weights, d_ff = d, ReLU, no biases, attention that looks everywhere alike (W_q = W_k = 0), inputs N(0, 1).
/// `real`: the model of bench I instead, with attention and d_ff = 4 d.
std::unique_ptr<Model> xiong_model(std::string_view arrangement, std::size_t layers, std::uint64_t seed, bool real = false);

}  // namespace addnorm::lab
