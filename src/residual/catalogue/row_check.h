// What a row must not say: fields that contradict each other, and fields that would change nothing.
#pragma once

#include <optional>
#include <string>

#include "addnorm/residual/arrangement.h"

namespace addnorm {

struct RowProblem {
  std::string field;  ///< "overrides[0].unit.in_scale"
  std::string text;   ///< what is wrong with it and what to do
};
/// The first one; nothing for a class, whose slots are not read.
std::optional<RowProblem> problem_of(const Arrangement& row);

}  // namespace addnorm
