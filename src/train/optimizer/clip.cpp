// What is asked of all gradients together: their norm, the clipping that follows from it, and the first that is not finite.
#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/core/parallel.h"
#include "addnorm/train/optimizer.h"
#include "kernels/reduce/reduce.h"
#include "train/optimizer/base.h"

namespace addnorm {
namespace {

template <class T>
BadValue first_bad(const Tensor& tensor) {
  BadValue bad{.elements = tensor.elements()};
  const std::span<const T> values = tensor.values<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    if (bad.count++ != 0) continue;
    bad.index = i;
    bad.value = static_cast<float>(values[i]);
  }
  return bad;
}

}  // namespace

BadValue first_bad_value(const Tensor& tensor) {
  return dispatch(tensor.dtype(), [&](auto zero) { return first_bad<decltype(zero)>(tensor); });
}

namespace {

BadValue first_bad_of(Module& module, bool gradient) {
  BadValue found;
  for_each_parameter(module, [&](const Parameter& p) {
    const Tensor& tensor = gradient ? p.value.grad() : p.value.value();
    if (found.count != 0 || !tensor.defined()) return;
    found = first_bad_value(tensor);
    if (found.count == 0) return;
    found.path = p.path;
    found.gradient = gradient;
  });
  return found.count == 0 ? BadValue{} : found;
}

}  // namespace

void GradientNorm::add(const Tensor& gradient) {
  if (!gradient.defined()) return;
  for (std::size_t i = 0; i < gradient.elements(); i += kPiece) {
    const std::size_t n = std::min(kPiece, gradient.elements() - i);
    blocks_.add({&gradient, i, n, 0}, n);
  }
}

double GradientNorm::squares_of(const Piece& piece) {
  return dispatch(piece.gradient->dtype(), [&](auto zero) {
    double scratch[1] = {};  // a piece is one block of the reduction
    return kernels::sum_of_squares(piece.gradient->data<decltype(zero)>() + piece.begin, piece.n, scratch);
  });
}

double GradientNorm::norm() {
  blocks_.finish();
  blocks_.run([](std::span<Piece> pieces) {
    for (Piece& piece : pieces) piece.squares = squares_of(piece);
  });
  double squares = 0;
  for (const Piece& piece : blocks_.pieces()) squares += piece.squares;
  return std::sqrt(squares);
}

double gradient_norm(Module& module) {
  GradientNorm all;
  for_each_parameter(module, [&](const Parameter& p) { all.add(p.value.grad()); });
  return all.norm();
}

double clip_scale(double norm, double max_norm) {
  require(std::isfinite(norm) && norm >= 0, "clip_scale: the norm is ", norm,
          "; gradients that are not finite cannot be clipped");
  require(std::isfinite(max_norm) && max_norm >= 0, "clip_scale: max_norm is ", max_norm,
          "; it must be a number from 0 on (0: no clipping)");
  return max_norm > 0 && norm > max_norm ? max_norm / norm : 1;
}

void clear_gradients(Module& module) {
  for_each_parameter(module, [](Parameter& p) { p.value.clear_grad(); });
}

BadValue first_bad_gradient(Module& module) { return first_bad_of(module, true); }
BadValue first_bad_parameter(Module& module) { return first_bad_of(module, false); }

std::string describe(const BadValue& bad) {
  if (bad.count == 0) return "all values are finite";
  return concat(bad.gradient ? "gradient of " : "", bad.path, ": ", bad.value, " at element ", bad.index, ", ", bad.count, " of ",
                bad.elements, bad.count == 1 ? " is not finite" : " are not finite");
}

}  // namespace addnorm
