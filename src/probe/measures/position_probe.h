// Position information left in the stream: how well a linear map of x predicts where in its sequence a token stands.
#pragma once

#include "probe/measures/measures.h"

namespace addnorm {

inline constexpr std::size_t kPositionBlocks = 8;  ///< of the sequence, or as many as it has tokens; chance is 1 over them

/// Share of tokens whose block of the sequence a ridge regression names, block = position * blocks / tokens:
///
///   W = argmin |(X - m) W - Y|^2 + 0.01 mean eigenvalue |W|^2,   Y one-hot by block, less its mean;   the block of the largest
///
/// Fitted on sequences 0, 2, 4, ..., counted on the others. x [sequences, tokens, width]; NaN for other shapes, one sequence, one
/// token, or values that are not finite. Solved in double over features where they are at most 256, else over 256 tokens, evenly
/// spread.
double position_accuracy(const Tensor& x, const RowMask& rows);

}  // namespace addnorm
