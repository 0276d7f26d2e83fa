#include "addnorm/autograd/var.h"

#include "autograd/graph.h"

namespace addnorm {

Var::Var(Tensor value, bool requires_grad) : value_(std::make_shared<detail::Value>()) {
  require(value.defined(), "Var: the tensor is undefined");
  value_->tensor = std::move(value);
  value_->requires_grad = requires_grad;
}

const Tensor& Var::value() const {
  require(defined(), "Var: used before it was given a value");
  return value_->tensor;
}
Tensor& Var::value() {
  require(defined(), "Var: used before it was given a value");
  return value_->tensor;
}

bool Var::requires_grad() const { return defined() && value_->requires_grad; }

const Tensor& Var::grad() const {
  require(defined(), "Var::grad: the Var has no value");
  return value_->grad;
}
Tensor& Var::grad() {
  require(defined(), "Var::grad: the Var has no value");
  return value_->grad;
}
void Var::clear_grad() { grad() = Tensor(); }

void Var::retain_grad() {
  require(requires_grad(), "Var::retain_grad: this value does not require a gradient");
  value_->retain_grad = true;
}

Var Var::detach() const { return Var(value()); }

std::string_view Var::op() const { return defined() && value_->producer ? value_->producer->name : "leaf"; }

}  // namespace addnorm
