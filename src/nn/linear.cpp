#include "addnorm/nn/linear.h"

#include <cmath>

#include "addnorm/autograd/tape.h"

namespace addnorm {
namespace {

std::size_t rows_of(const std::vector<Part>& parts) {
  std::size_t rows = 0;
  for (const Part& part : parts) {
    require(part.first == rows, "Linear: part ", part.role, " begins at row ", part.first, ", the ones before it end at ", rows);
    rows += part.rows;
  }
  return rows;
}

}  // namespace

Linear::Linear(std::size_t in, std::size_t out, Role role, bool bias) : Linear(in, {{role, 0, out}}, bias) {}

Linear::Linear(std::size_t in, std::vector<Part> parts, bool bias) : parts_(std::move(parts)) {
  const std::size_t out = rows_of(parts_);
  require(in > 0 && out > 0, "Linear: in is ", in, ", out is ", out, "; both must be positive");
  weight_ = Var(Tensor::zeros({out, in}), true);
  if (bias) bias_ = Var(Tensor::zeros({out}), true);
}

Var Linear::operator()(const Var& x, LinearActivation activation) const {
  if (!packed_.defined()) return linear(x, weight_, bias_, activation);
  require(
      !grad_enabled() || !x.requires_grad(),
      "Linear: the weights of this model were packed, for computing only; put NoGrad around the pass, or load the model anew");
  return Var(packed_linear(x.value(), packed_, bias_.defined() ? bias_.value() : Tensor(), activation));
}

void Linear::visit(Visitor& visitor) {
  visitor.matrix("weight", weight_, packed_, parts_);
  visitor.parameter("bias", bias_, Role::bias, weight_.defined() ? weight_.shape().back() : 0);
}

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
