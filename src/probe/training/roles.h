// Parameters by role: how large their gradients are, and how far one update moves them.
#pragma once

#include <vector>

#include "addnorm/model/model.h"
#include "addnorm/probe/record.h"

namespace addnorm {

/// see(role, first element, elements) for every part of a parameter.
template <class See>
void for_each_role(const Parameter& parameter, See&& see) {
  const Shape& shape = parameter.value.shape();
  const std::size_t rows = shape.rank() == 0 ? 1 : shape[0];
  const std::size_t row = rows ? parameter.value.value().elements() / rows : 0;
  for (const Part& part : parameter.parts) see(part.role, part.first * row, part.rows * row);
}

class RoleProbe {
 public:
  /// Gradients as they are, and a copy of all weights.
  void before_update(Model& model);
  /// The weights have moved.
  std::vector<RoleRecord> after_update(Model& model);

 private:
  std::vector<Tensor> before_;
  std::vector<RoleRecord> records_;
};

}  // namespace addnorm
