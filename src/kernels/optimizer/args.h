// The arguments of the optimizer updates. Coefficients are doubles: 1 - beta2 and the bias corrections are computed from them
// before anything is rounded to float.
#pragma once

#include <cstddef>
#include <cstdint>

namespace addnorm::kernels {

struct AdamSettings {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;  ///< added to the root; > 0, in the float kernel at least 1e-38: a float 0 would divide 0 by 0
  double weight_decay = 0;
  bool decoupled = true;   ///< AdamW: parameters shrink by lr * weight_decay. Else Adam: weight_decay * p joins the gradient
  bool rectified = false;  ///< RAdam: see AdamFactors
  std::int64_t step = 1;   ///< of this update, counted from 1
  double gradient_scale = 1;
};

struct SgdSettings {
  double lr = 1e-2;
  double momentum = 0;      ///< 0: the velocity is neither read nor written
  double weight_decay = 0;  ///< weight_decay * p joins the gradient
  bool nesterov = false;
  double gradient_scale = 1;
};

struct AdafactorSettings {
  double lr = 1e-2;
  double weight_decay = 0;   ///< parameters shrink by lr * weight_decay
  double beta2_power = 0.8;  ///< beta2 = 1 - step^-beta2_power
  double eps1 = 0x1p-23;     ///< least root of the second moment, and least mean of its rows; its square is a normal number
  double eps2 = 1e-3;        ///< least RMS of a parameter that steps are proportional to
  double update_clip = 1;
  std::int64_t step = 1;  ///< of this update, counted from 1
  double gradient_scale = 1;
};

/// Neighbouring elements of one parameter: gradient, parameter and what the optimizer keeps of it. SGD has its velocity in m.
template <class T>
struct UpdatePiece {
  const T* g;
  T* p;
  T* m;
  T* v;
  std::size_t n;
  std::size_t group;  ///< which of the settings it follows
};

}  // namespace addnorm::kernels
