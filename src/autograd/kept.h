// Values that backward reads and need not keep: they are computed again from what is kept anyway. Internal to autograd.
//
// The output of an activation follows from its argument, the output of a norm from what it normed; both ops keep these for their
// own backward. So a product that reads such an output keeps the recipe instead: of a layer 10 arrays [tokens, width] stay
// instead of 16, for one more pass over memory. A recipe gives the same bits as the op gave.
#pragma once

#include <functional>

#include "addnorm/autograd/var.h"

namespace addnorm::detail {

/// Says how y, just recorded, can be computed again: `again` captures only tensors that the op's own backward keeps. Without
/// effect where nothing was recorded. Changing y's elements (Var::value()) then makes it an ordinary value.
void computed_again_by(const Var& y, std::function<Tensor()> again);

/// What a backward function captures of an input.
class Kept {
 public:
  explicit Kept(const Var& x);
  const Shape& shape() const { return shape_; }
  Tensor tensor() const { return again_ ? again_() : tensor_; }  ///< a new one each time where it is computed again

 private:
  Shape shape_;
  Tensor tensor_;                  // undefined where there is a recipe
  std::function<Tensor()> again_;  // empty: the tensor itself is kept
};

}  // namespace addnorm::detail
