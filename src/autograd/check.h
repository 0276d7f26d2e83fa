// Checks that several ops make first. Internal to autograd.
#pragma once

#include <cmath>

#include "addnorm/autograd/var.h"

namespace addnorm::detail {

/// The input exists. The message names the op and the argument: a default-made Var has no shape to complain about.
inline void require_defined(const char* op, const char* argument, const Var& input) {
  require(input.defined(), op, ": ", argument, " is an undefined Var");
}

inline void require_same_dtype(const char* op, const char* first_name, const Var& first, const char* second_name,
                               const Var& second) {
  require(first.dtype() == second.dtype(), op, ": ", first_name, " is ", first.dtype(), ", ", second_name, " is ",
          second.dtype());
}

/// One number per feature of x: [last axis of x], the dtype of x.
inline void require_vector(const char* op, const char* argument, const Tensor& v, const Var& x) {
  require(v.defined(), op, ": ", argument, " is an undefined Tensor");
  const Shape wanted{as_rows(x.shape()).width};
  require(v.shape() == wanted, op, ": ", argument, " is ", v.shape(), ", x is ", x.shape(), ": ", wanted, " is needed");
  require(v.dtype() == x.dtype(), op, ": ", argument, " is ", v.dtype(), ", x is ", x.dtype());
}
/// The same where Var() stands for none.
inline void require_vector_or_none(const char* op, const char* argument, const Var& v, const Var& x) {
  if (v.defined()) require_vector(op, argument, v.value(), x);
}

inline void require_eps(const char* op, float eps) {
  require(eps >= 0 && std::isfinite(eps), op, ": eps is ", eps, "; it must be finite and not negative");
}

}  // namespace addnorm::detail
