#include "addnorm/nn/linear.h"

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

}  // namespace addnorm
