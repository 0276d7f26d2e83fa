#include "addnorm/model/sentence.h"

#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/model/classifier.h"

namespace addnorm {

Tensor sentence_vectors(const Encoder& encoder, const Tokens& tokens, const SentenceOptions& options) {
  const NoGrad no_grad;
  Tensor y = pooled(encoder(tokens), options.pooling, tokens.lengths).value();
  if (!options.normalize) return y;
  const std::size_t width = y.shape()[1];
  for (std::size_t b = 0; b < y.shape()[0]; ++b) {
    const std::span<float> row = y.values<float>().subspan(b * width, width);
    double squares = 0;
    for (const float v : row) squares += static_cast<double>(v) * static_cast<double>(v);
    const double length = std::max(std::sqrt(squares), 1e-12);
    for (float& v : row) v = static_cast<float>(static_cast<double>(v) / length);
  }
  return y;
}

}  // namespace addnorm
