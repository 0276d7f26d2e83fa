// Stacks in tests: branches F(x) = w * x element by element, with unequal w (a plain multiple would vanish in a norm).
#pragma once

#include <vector>

#include "addnorm/autograd/ops.h"
#include "addnorm/residual/residual.h"
#include "support/near.h"

namespace addnorm::test {

inline std::vector<Var> row_branches(const StackShape& shape, DType dtype = DType::f32) {
  std::vector<Var> w;
  for (std::size_t i = 0; i < shape.units(); ++i) w.emplace_back(normal_tensor({shape.width}, 50 + i, dtype), true);
  return w;
}

inline Var run_stack(const Residual& residual, const Var& x, const std::vector<Var>& w, const Pass& pass = {},
                     StreamObserver* observer = nullptr) {
  const auto stream = residual.open(x, pass, observer);
  for (std::size_t layer = 0; layer < residual.shape().layers; ++layer) {
    stream->enter(layer);
    for (std::size_t i = 0; i < residual.shape().sub_layers.size(); ++i) {
      const Unit unit = residual.shape().unit(layer, i);
      stream->write(unit, mul_row(stream->read(unit), w[unit.index]));
    }
    stream->leave(layer);
  }
  return stream->close();
}

}  // namespace addnorm::test
