// Var: a Tensor that remembers how it was computed, so that gradients can flow back to what it was computed from.
#pragma once

#include <memory>
#include <string_view>

#include "addnorm/tensor/tensor.h"

namespace addnorm {

namespace detail {
struct Value;
struct Node;
}  // namespace detail

/// Copies are handles to the same value. A Var made from a Tensor is a leaf; one returned by an op (ops.h) remembers its
/// inputs while gradients are recorded (tape.h).
class Var {
 public:
  Var() = default;
  explicit Var(Tensor value, bool requires_grad = false);

  bool defined() const { return value_ != nullptr; }
  const Tensor& value() const;
  Tensor& value();  ///< for optimizers and initialisation; do not change what a recorded op has read
  const Shape& shape() const { return value().shape(); }
  DType dtype() const { return value().dtype(); }
  template <Element T>
  const T* data() const {
    return value().data<T>();
  }

  bool requires_grad() const;
  /// The accumulated gradient: of leaves, and of values on which retain_grad() was called. Undefined before backward.
  const Tensor& grad() const;
  Tensor& grad();
  void clear_grad();
  void retain_grad();  ///< keep the gradient of this computed value too

  Var detach() const;           ///< the same Tensor as a leaf without gradient
  std::string_view op() const;  ///< the op that made it; "leaf" otherwise

 private:
  friend struct detail::Node;
  std::shared_ptr<detail::Value> value_;
};

}  // namespace addnorm
