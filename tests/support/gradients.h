// Gradient checks of ops in double, through the same Var and tape that training uses.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "addnorm/autograd/gradcheck.h"
#include "support/near.h"

namespace addnorm::test {

/// Checks every element of every input of fn(const std::vector<Var>&) -> std::vector<Var> against central differences.
#define EXPECT_GRADIENTS(fn, ...)                                                                                      \
  do {                                                                                                                 \
    const ::addnorm::GradcheckResult result = ::addnorm::gradcheck((fn), std::vector<::addnorm::Tensor>{__VA_ARGS__}); \
    EXPECT_TRUE(result.ok) << result.message;                                                                          \
  } while (0)

/// A float64 input with normal values.
inline Tensor input(const Shape& shape, std::uint64_t seed) { return normal_tensor(shape, seed, DType::f64); }

}  // namespace addnorm::test
