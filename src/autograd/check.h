// Checks that several ops make first. Internal to autograd.
#pragma once

#include <cmath>

#include "addnorm/autograd/var.h"

namespace addnorm::detail {

/// The input exists. The message names the op and the argument: a default-constructed Var has no shape to report.
inline void require_defined(const char* op, const char* argument, const Var& input) {
  require(input.defined(), op, ": ", argument, " is an undefined Var, made by default or moved from; give it a Tensor");
}

inline constexpr const char* kConvert = "; convert one Tensor with to(DType::f32) or to(DType::f64)";

inline void require_same_dtype(const char* op, const char* first_name, DType first, const char* second_name, DType second) {
  require(first == second, op, ": ", first_name, " is ", first, ", ", second_name, " is ", second, kConvert);
}
inline void require_same_dtype(const char* op, const char* first_name, const Var& first, const char* second_name,
                               const Var& second) {
  require_same_dtype(op, first_name, first.dtype(), second_name, second.dtype());
}

/// Two inputs of one shape and dtype, named a and b. `hint` says what was probably meant when the shapes disagree.
inline void require_alike(const char* op, const Var& a, const Var& b, const char* hint = "the shapes must be equal") {
  require_defined(op, "a", a);
  require_defined(op, "b", b);
  require(a.shape() == b.shape(), op, ": a is ", a.shape(), ", b is ", b.shape(), "; ", hint);
  require_same_dtype(op, "a", a, "b", b);
}

/// b is one row of a: [n] beside [..., n].
inline bool is_row_of(const Var& b, const Var& a) {
  return a.defined() && b.defined() && b.shape().rank() == 1 && a.shape().rank() > 1 && a.shape().back() == b.shape()[0];
}

/// One number per feature of x: [last axis of x], the dtype of x.
inline void require_vector(const char* op, const char* argument, const Tensor& v, const Var& x) {
  require(v.defined(), op, ": ", argument, " is an undefined Tensor");
  const Shape wanted{as_rows(x.shape()).width};
  require(v.shape() == wanted, op, ": ", argument, " is ", v.shape(), ", x is ", x.shape(), ": ", wanted, " is needed");
  require_same_dtype(op, argument, v.dtype(), "x", x.dtype());
}
/// The same where Var() stands for none.
inline void require_vector_or_none(const char* op, const char* argument, const Var& v, const Var& x) {
  if (v.defined()) require_vector(op, argument, v.value(), x);
}

inline void require_eps(const char* op, float eps) {
  require(eps >= 0 && std::isfinite(eps), op, ": eps is ", eps, "; it must be finite and not negative");
}

/// A double that ops compute with in their dtype: what float32 turns into infinity is refused like infinity.
inline bool is_finite_in(DType dtype, double value) {
  return dispatch(dtype, [&](auto zero) { return std::isfinite(static_cast<decltype(zero)>(value)); });
}
inline void require_finite_in(DType dtype, const char* op, const char* argument, double value) {
  require(is_finite_in(dtype, value), op, ": ", argument, " is ", value, "; it must be finite in ", dtype);
}

}  // namespace addnorm::detail
