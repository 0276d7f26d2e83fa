// The vectors of the last token of each sequence: all that decoding needs logits of.
#pragma once

#include <cstring>

#include "addnorm/autograd/var.h"

namespace addnorm {

/// x [rows, tokens, width] -> [rows, width]; no gradient.
inline Tensor last_token(const Tensor& x) {
  const std::size_t rows = x.shape()[0], tokens = x.shape()[1], width = x.shape()[2];
  Tensor last({rows, width});
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(last.data<float>() + row * width, x.data<float>() + ((row + 1) * tokens - 1) * width, width * sizeof(float));
  return last;
}

}  // namespace addnorm
