// What the optimizer updates are told. Coefficients are doubles: 1 - beta2 and the bias corrections are computed from them
// before anything is rounded to float.
#pragma once

#include <cstdint>

namespace addnorm::kernels {

struct AdamSettings {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;  ///< added to the root; > 0, in the float kernel at least 1e-38: a float 0 would divide 0 by 0
  double weight_decay = 0;
  bool decoupled = true;  ///< AdamW: parameters shrink by lr * weight_decay. Else Adam: weight_decay * p joins the gradient
  std::int64_t step = 1;  ///< of this update, counted from 1
};

struct SgdSettings {
  double lr = 1e-2;
  double momentum = 0;      ///< 0: the velocity is neither read nor written
  double weight_decay = 0;  ///< weight_decay * p joins the gradient
  bool nesterov = false;
};

}  // namespace addnorm::kernels
