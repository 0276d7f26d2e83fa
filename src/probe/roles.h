// Parameters by role: how large their gradients are, and how far one update moves them.
#pragma once

#include <vector>

#include "addnorm/model/model.h"
#include "addnorm/probe/record.h"

namespace addnorm {

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
