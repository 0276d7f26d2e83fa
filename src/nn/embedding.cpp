#include "addnorm/nn/embedding.h"

#include <cmath>

#include "addnorm/autograd/ops.h"

namespace addnorm {

Embedding::Embedding(std::size_t vocabulary, std::size_t width, bool times_sqrt_width)
    : scale_(times_sqrt_width ? std::sqrt(static_cast<double>(width)) : 1) {
  require(vocabulary > 0 && width > 0, "Embedding: vocabulary is ", vocabulary, ", width is ", width, "; both must be positive");
  table_ = Var(Tensor::zeros({vocabulary, width}), true);
}

Var Embedding::operator()(std::span<const std::int32_t> ids, std::size_t batch) const {
  require(batch > 0 && ids.size() % batch == 0, "Embedding: ", ids.size(), " ids do not make ", batch,
          " sequences of one length; pad the short ones");
  const Var x = reshape(embedding(table_, ids), {batch, ids.size() / batch, width()});
  return scale_ == 1 ? x : scale(x, scale_);
}

Var Embedding::logits(const Var& x) const { return linear(x, table_); }

void Embedding::visit(Visitor& visitor) { visitor.parameter("weight", table_, Role::token_embedding); }

}  // namespace addnorm
