// Rotary position embedding: pairs of a head's elements turn by an angle that grows with the position.
//
//   (a, b) -> (a cos - b sin, a sin + b cos)
//
// Two products and one sum per element, each rounded: equals the reference bit for bit on every target. The gradient is
// the inverse turn of dy. Any head size, also turning only its first d_rotary elements; rows may stand in a packed array.
#pragma once

#include "kernels/attention/rotary_args.h"
#include "kernels/reference/rotary.h"

namespace addnorm::kernels {

void rotary(const RotaryArgs<float>& args);
inline void rotary(const RotaryArgs<double>& args) { reference::rotary(args); }

using reference::rotary_tables;

}  // namespace addnorm::kernels
