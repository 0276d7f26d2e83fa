// Every differentiable op. Shapes are row-major; "rows" are all axes but the last. Each op works in float32 (SIMD
// kernels, several threads) and in float64 (the reference loops; for gradient checks). Inputs share one dtype.
#pragma once

#include "addnorm/autograd/var.h"

namespace addnorm {

/// a + b and a * b, element by element; equal shapes.
Var add(const Var& a, const Var& b);
Var mul(const Var& a, const Var& b);

}  // namespace addnorm
