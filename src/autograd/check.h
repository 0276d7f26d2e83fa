// Checks that every op makes first. Internal to autograd.
#pragma once

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

}  // namespace addnorm::detail
