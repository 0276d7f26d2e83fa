#include "addnorm/autograd/var.h"

#include "autograd/graph.h"

namespace addnorm {

Var::Var(Tensor value, bool requires_grad) {
  require(value.defined(), "Var: the tensor is undefined; give one with elements, such as Tensor::zeros(shape)");
  value_ = std::make_shared<detail::Value>(std::move(value), requires_grad);
}

const Tensor& Var::value() const {
  require(defined(), "Var: used before it was given a value; it was made by default or moved from");
  return value_->tensor;
}
Tensor& Var::value() {
  require(defined(), "Var: used before it was given a value; it was made by default or moved from");
  value_->again = nullptr;  // the caller may change the elements
  return value_->tensor;
}

bool Var::requires_grad() const { return defined() && value_->slot->requires_grad; }

const Tensor& Var::grad() const {
  require(defined(), "Var::grad: the Var has no value; it was made by default or moved from");
  return value_->slot->grad;
}
Tensor& Var::grad() {
  require(defined(), "Var::grad: the Var has no value; it was made by default or moved from");
  return value_->slot->grad;
}
void Var::clear_grad() { grad() = Tensor(); }

void Var::retain_grad() {
  require(requires_grad(), "Var::retain_grad: this value does not require a gradient; compute it from a leaf made with ",
          "Var(tensor, true), outside of NoGrad");
  value_->slot->retain_grad = true;
}

Var Var::detach() const { return Var(value()); }

std::string_view Var::op() const { return defined() && value_->slot->producer ? value_->slot->producer->name : "leaf"; }

}  // namespace addnorm
